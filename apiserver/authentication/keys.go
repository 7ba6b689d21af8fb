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
func ParsePublicKeys(data []byte) (out []crypto.PublicKey, err error) {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		p, err := publicKey(block)
		if err != nil {
			return nil, err
		}
		if p != nil {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, ErrKey
	}
	return out, nil
}

// publicKey returns the public key in a PEM block. It returns nil for a block without a key, such as the parameters of
// a curve.
func publicKey(b *pem.Block) (crypto.PublicKey, error) {
	switch b.Type {
	case "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(b.Bytes)
	case "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(b.Bytes)
	case "CERTIFICATE":
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, err
		}
		return c.PublicKey, nil
	}
	s, err := privateKey(b)
	if s == nil || err != nil {
		return nil, err
	}
	return s.Public(), nil
}

// ParseSigner returns the private key in a PEM file.
func ParseSigner(data []byte) (crypto.Signer, error) {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return nil, ErrKey
		}
		s, err := privateKey(block)
		if s != nil || err != nil {
			return s, err
		}
	}
}

func privateKey(b *pem.Block) (crypto.Signer, error) {
	switch b.Type {
	case "RSA PRIVATE KEY":
		return x509.ParsePKCS1PrivateKey(b.Bytes)
	case "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(b.Bytes)
	case "PRIVATE KEY":
		k, err := x509.ParsePKCS8PrivateKey(b.Bytes)
		if err != nil {
			return nil, err
		}
		if s, ok := k.(crypto.Signer); ok {
			return s, nil
		}
		return nil, ErrKey
	}
	return nil, nil
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
