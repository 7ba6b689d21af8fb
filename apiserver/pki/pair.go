package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/keyutil"
)

// pair is a certificate with its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// template returns the common fields of all certificates. Their validity begins a minute before now, because the clocks
// of clients differ.
func template(name string, orgs []string, now time.Time, life time.Duration) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{CommonName: name, Organization: orgs},
		NotBefore: now.Add(-time.Minute).UTC(), NotAfter: now.Add(life).UTC(),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

// newPair generates a key, and a certificate with the fields of c that signer signs. If signer is nil, the certificate
// is self-signed.
func newPair(c *x509.Certificate, signer *pair) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	if c.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return pair{}, err
	}
	if signer == nil {
		signer = &pair{c, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, signer.cert, &key.PublicKey, signer.key)
	if err != nil {
		return pair{}, err
	}
	cert, err := x509.ParseCertificate(der)
	return pair{cert, key}, err
}

func (p pair) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.cert.Raw})
}

// write stores the key in path.key, and then the certificate in path.crt. After a crash between the two, there is no
// certificate without its key.
func (p pair) write(path string) error {
	key, err := keyutil.MarshalPrivateKeyToPEM(p.key)
	if err != nil {
		return err
	}
	if err := replaceFile(path+".key", key, private); err != nil {
		return err
	}
	return replaceFile(path+".crt", p.certPEM(), private)
}

// errMismatch means that a certificate and a key are not a pair, for example after a crash between the two writes.
var errMismatch = fmt.Errorf("the key is not the certificate's: %w", os.ErrNotExist)

func readPair(path string) (pair, error) {
	cert, err := readPEM(path+".crt", x509.ParseCertificate)
	if err != nil {
		return pair{}, err
	}
	key, err := readPEM(path+".key", x509.ParseECPrivateKey)
	if err != nil {
		return pair{}, err
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return pair{}, &os.PathError{Op: "read", Path: path, Err: errMismatch}
	}
	return pair{cert, key}, nil
}

// readPEM parses a PEM file. Its errors name the file. If the file is missing, the error is os.ErrNotExist.
func readPEM[T any](path string, parse func(der []byte) (T, error)) (v T, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		err = errors.New("it contains no PEM block")
	} else {
		v, err = parse(block.Bytes)
	}
	if err != nil {
		return v, fmt.Errorf("reading %s: %w; restore it from a copy, or remove it to have a new one created", path, err)
	}
	return v, nil
}

// private are the permissions of files that only their owner may read.
const private = 0o600

// replaceFile writes a file atomically, by renaming. If path is not a regular file, for example a pipe or /dev/stdout,
// it writes to path directly.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, mode)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // only the owner can read it
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if mode != private {
		err = tmp.Chmod(mode)
	}
	if err == nil {
		_, err = tmp.Write(data)
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the errors before this one are returned
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
