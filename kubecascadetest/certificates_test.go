package kubecascadetest_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/kubecascadetest"
)

// TestCertificates: the server's certificate is published as the only ClusterTrustBundle of its signer, what users
// change in it is reverted, and requests for certificates of pods are deleted after 15 minutes (V-087).
func TestCertificates(t *testing.T) {
	s := kubecascadetest.New(t)
	c := newClient(t, s)
	const bundles = "/apis/certificates.k8s.io/v1/clustertrustbundles"
	const requests = "/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests"
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	stub, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	c.do("POST", requests, `{"metadata":{"name":"r"},"spec":{"signerName":"example.com/s","podName":"p","podUID":"u",
		"serviceAccountName":"s","serviceAccountUID":"u","nodeName":"node","nodeUID":"u",
		"stubPKCS10Request":"`+base64.StdEncoding.EncodeToString(stub)+`"}}`, http.StatusCreated)
	settle(t, s)

	const prefix = `"name":"kubernetes.io:kube-apiserver-serving:`
	list := c.do("GET", bundles, "", http.StatusOK)
	_, rest, _ := strings.Cut(list, prefix)
	name := "kubernetes.io:kube-apiserver-serving:" + rest[:24]
	authority, _ := pem.Decode(s.Config().CAData)
	published := strings.Trim(strconv.Quote(string(pem.EncodeToMemory(authority))), `"`)
	if strings.Count(list, prefix) != 1 || !strings.Contains(list, published) {
		t.Errorf("%s\nwant only %s", list, published)
	}
	other := strings.ReplaceAll(string(anotherAuthority(t)), "\n", `\n`)
	c.do("POST", bundles, `{"metadata":{"name":"kubernetes.io:kube-apiserver-serving:other"},
		"spec":{"signerName":"kubernetes.io/kube-apiserver-serving","trustBundle":"`+other+`"}}`, http.StatusCreated)
	c.do("POST", bundles, `{"metadata":{"name":"mine"},"spec":{"trustBundle":"`+other+`"}}`, http.StatusCreated)
	stored := c.do("GET", bundles+"/"+name, "", http.StatusOK)
	c.do("PUT", bundles+"/"+name, strings.Replace(stored, published, other, 1), http.StatusOK)
	settle(t, s)
	if got := c.do("GET", bundles+"/"+name, "", http.StatusOK); !strings.Contains(got, published) {
		t.Errorf("after a change it is %s", got)
	}
	c.do("GET", bundles+"/kubernetes.io:kube-apiserver-serving:other", "", http.StatusNotFound)
	c.do("GET", bundles+"/mine", "", http.StatusOK)

	if err := s.Advance(14 * time.Minute); err != nil {
		t.Fatal(err)
	}
	settle(t, s)
	c.do("GET", requests+"/r", "", http.StatusOK)
	if err := s.Advance(time.Minute); err != nil {
		t.Fatal(err)
	}
	settle(t, s)
	c.do("GET", requests+"/r", "", http.StatusNotFound)
}

// anotherAuthority is a certificate of another authority in PEM.
func anotherAuthority(t *testing.T) []byte {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
