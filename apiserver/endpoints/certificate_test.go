package endpoints_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestCertificateSubject: no certificate for clients of the API server has the group system:masters.
func TestCertificateSubject(t *testing.T) {
	s := apiservertest.Start(t, nil)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	request := func(group string) string {
		der, err := x509.CreateCertificateRequest(
			rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "u", Organization: []string{group}}}, key,
		)
		if err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	}
	for i, c := range []struct {
		signer, group string
		code          int
	}{
		{"kubernetes.io/kube-apiserver-client", "system:masters", 403},
		{"kubernetes.io/kube-apiserver-client", "devs", 201},
		{"x.io/other", "system:masters", 201},
	} {
		a := s.Do("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", fmt.Sprintf(
			`{"metadata":{"name":"r%d"},"spec":{"signerName":%q,"usages":["client auth"],"request":%q}}`, i, c.signer, request(
				c.group,
			)))
		if a.Code != c.code {
			t.Errorf("%v: %d %s", c, a.Code, a.Body)
		}
		if a.Code == 403 && a.Status().Message !=
			`certificatesigningrequests.certificates.k8s.io "r0" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed` {
			t.Error(a.Status().Message)
		}
	}
}
