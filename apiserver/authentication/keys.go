package authentication

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"

	"github.com/golang-jwt/jwt/v5"
	"k8s.io/client-go/util/keyutil"
)

// ErrKey is the error for a file without a key of a type that can sign tokens.
var ErrKey = errors.New("authentication: no RSA key, and no ECDSA key on P-256, P-384 or P-521")

// key is a public key that verifies tokens. Each key has one algorithm. A token must name the algorithm of its key.
type key struct {
	id     string
	method jwt.SigningMethod
	public crypto.PublicKey
}

// newKey derives the algorithm and the ID of a key. The algorithms are those of kube-apiserver. The ID is a digest of
// the key (K pkg/serviceaccount/jwt.go: keyIDFromPublicKey).
func newKey(public crypto.PublicKey) (key, error) {
	k := key{public: public}
	switch p := public.(type) {
	case *rsa.PublicKey:
		k.method = jwt.SigningMethodRS256
	case *ecdsa.PublicKey:
		switch p.Curve {
		case elliptic.P256():
			k.method = jwt.SigningMethodES256
		case elliptic.P384():
			k.method = jwt.SigningMethodES384
		case elliptic.P521():
			k.method = jwt.SigningMethodES512
		}
	}
	if k.method == nil {
		return key{}, ErrKey
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return key{}, fmt.Errorf("encoding a key: %w", err)
	}
	sum := sha256.Sum256(der)
	k.id = base64.RawURLEncoding.EncodeToString(sum[:])
	return k, nil
}

// ParsePublicKeys returns every key in a PEM file: public keys, and the public parts of certificates and private keys.
// Other blocks are skipped, as kube-apiserver does.
func ParsePublicKeys(data []byte) (out []crypto.PublicKey, err error) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		one := pem.EncodeToMemory(block)
		if keys, err := keyutil.ParsePublicKeysPEM(one); err == nil {
			out = append(out, keys[0])
		} else if s, err := ParseSigner(one); err == nil { // an ECDSA key in PKCS #8
			out = append(out, s.Public())
		} else if key, err := x509.ParsePKCS1PublicKey(block.Bytes); err == nil {
			out = append(out, key)
		}
	}
	if len(out) == 0 {
		return nil, ErrKey
	}
	return out, nil
}

// ParseSigner returns the private key in a PEM file.
func ParseSigner(data []byte) (crypto.Signer, error) {
	key, err := keyutil.ParsePrivateKeyPEM(data)
	if s, ok := key.(crypto.Signer); ok && err == nil {
		return s, nil
	}
	return nil, ErrKey
}

// webKey is a JSON Web Key, with its members in kube-apiserver's order.
type webKey struct {
	Use       string `json:"use"`
	Type      string `json:"kty"`
	ID        string `json:"kid"`
	Curve     string `json:"crv,omitempty"`
	Algorithm string `json:"alg"`
	X         string `json:"x,omitempty"`
	Y         string `json:"y,omitempty"`
	N         string `json:"n,omitempty"`
	E         string `json:"e,omitempty"`
}

func (k *key) web() (webKey, error) {
	w := webKey{Use: "sig", ID: k.id, Algorithm: k.method.Alg()}
	text := base64.RawURLEncoding.EncodeToString
	switch p := k.public.(type) {
	case *rsa.PublicKey:
		w.Type, w.N, w.E = "RSA", text(p.N.Bytes()), text(big.NewInt(int64(p.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := p.Bytes() // 0x04, x, y
		if err != nil {
			return w, fmt.Errorf("encoding a key: %w", err)
		}
		half := len(point) / 2
		w.Type, w.Curve, w.X, w.Y = "EC", p.Params().Name, text(point[1:1+half]), text(point[1+half:])
	}
	return w, nil
}
