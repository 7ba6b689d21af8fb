package kubecascadetest_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade"
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
	if len(rest) < 24 {
		t.Fatalf("there is none: %s", list)
	}
	name := "kubernetes.io:kube-apiserver-serving:" + rest[:24]
	authority, _ := pem.Decode(s.Config().CAData)
	published := strings.Trim(strconv.Quote(string(pem.EncodeToMemory(authority))), `"`)
	if strings.Count(list, prefix) != 1 || !strings.Contains(list, published) {
		t.Errorf("%s\nwant only %s", list, published)
	}
	certificate, _ := anotherAuthority(t)
	other := strings.ReplaceAll(string(certificate), "\n", `\n`)
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

// TestGivenCertificate: pods get a serving certificate that was given, as other clients do.
func TestGivenCertificate(t *testing.T) {
	certificate, key := anotherAuthority(t)
	file := filepath.Join(t.TempDir(), "both.pem")
	if err := os.WriteFile(file, slices.Concat(key, certificate), 0o600); err != nil {
		t.Fatal(err)
	}
	s := kubecascadetest.New(t, func(o *kubecascade.Options) { o.Addresses.CertFile, o.Addresses.KeyFile = file, file })
	c := newClient(t, s)
	settle(t, s)
	all := strings.Trim(strconv.Quote(string(s.Config().CAData)), `"`)
	if n := strings.Count(all, "BEGIN CERTIFICATE"); n != 2 {
		t.Fatalf("clients trust %d certificates", n)
	}
	for _, path := range []string{
		"/api/v1/namespaces/default/configmaps/kube-root-ca.crt", "/apis/certificates.k8s.io/v1/clustertrustbundles",
	} {
		if got := c.do("GET", path, "", http.StatusOK); !strings.Contains(got, `"`+all+`"`) {
			t.Errorf("%s\nwant %s", got, all)
		}
	}
}

// TestTrustBundlesNotServed: a bundle is stored only if a version is served in which clients can see and delete it.
func TestTrustBundlesNotServed(t *testing.T) {
	for _, served := range []bool{false, true} {
		dir := t.TempDir()
		s := kubecascadetest.New(t, func(o *kubecascade.Options) {
			o.Storage.Dir = dir
			o.API.RuntimeConfig = []string{
				"certificates.k8s.io/v1=false", "certificates.k8s.io/v1beta1=" + strconv.FormatBool(served),
			}
		})
		settle(t, s)
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		s = kubecascadetest.New(t, func(o *kubecascade.Options) { o.Storage.Dir, o.Controllers.Enabled = dir, []string{} })
		list := newClient(t, s).do("GET", "/apis/certificates.k8s.io/v1/clustertrustbundles", "", http.StatusOK)
		if stored := strings.Contains(list, `"name":"kubernetes.io:kube-apiserver-serving:`); stored != served {
			t.Errorf("v1beta1 is served: %v, stored bundles: %s", served, list)
		}
	}
}

// anotherAuthority is a certificate of another authority and its key, in PEM. It is a serving certificate, too.
func anotherAuthority(t *testing.T) (certificate, key []byte) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}
