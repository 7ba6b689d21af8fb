package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// csr is "csr KEY NAME [GROUP...]": it writes a new key to the file, and sets REQUEST to a certificate request of that
// user, as a CertificateSigningRequest has it.
func csr(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: csr KEY NAME [GROUP...]")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	der, err := x509.MarshalECPrivateKey(key)
	ts.Check(err)
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
	der, err = x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: args[1], Organization: args[2:]}}, key)
	ts.Check(err)
	text = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	ts.Setenv("REQUEST", base64.StdEncoding.EncodeToString(text))
}
