package main

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// writeCertificate writes a certificate and its key to two files.
func (p *plane) writeCertificate(name string, c apiservertest.Certified) {
	p.t.Helper()
	der, err := x509.MarshalECPrivateKey(c.Key)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(name+".crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Cert.Raw})))
	p.write(name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})))
}

// served returns the common name of the certificate for a host name.
func (p *plane) served(host string, most uint16) (string, error) {
	p.t.Helper()
	c, err := tls.Dial("tcp", "127.0.0.1:"+p.apiPort, &tls.Config{
		ServerName: host, InsecureSkipVerify: true, MaxVersion: most,
	})
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName, nil
}

// TestFrontProxy: kube-apiserver behind a proxy, with a certificate for another name, which is replaced, and as clients
// in the cluster find it.
func TestFrontProxy(t *testing.T) {
	p := newPlane(t)
	p.startEtcd()
	authority := apiservertest.NewAuthority(t)
	front := apiservertest.NewCertificate(t, &authority, &x509.Certificate{Subject: pkix.Name{CommonName: "front"}})
	serving := func(name string) apiservertest.Certified {
		return apiservertest.NewCertificate(t, nil, &x509.Certificate{
			Subject: pkix.Name{CommonName: name}, DNSNames: []string{"api.example"},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		})
	}
	p.writeCertificate("authority", authority)
	p.writeCertificate("named", serving("one"))
	api := p.startAPIServerWith(nil, "--requestheader-client-ca-file=authority.crt", "--requestheader-allowed-names=front",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-uid-headers=X-Remote-Uid", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--tls-sni-cert-key=named.crt,named.key", "--tls-min-version=VersionTLS13", "--advertise-address=10.9.8.7",
		"--shutdown-watch-termination-grace-period=1s")

	p.proxied(front)
	p.advertised()
	want := func(host string, most uint16, name string) {
		t.Helper()
		if got, err := p.served(host, most); got != name || (err == nil) != (name != "") {
			t.Errorf("%s: %q %v, want %q", host, got, err, name)
		}
	}
	want("api.example", 0, "one")
	want("api.example", tls.VersionTLS12, "")
	if got, err := p.served("other.example", 0); err != nil || got == "one" {
		t.Errorf("other.example: %q %v", got, err)
	}
	p.writeCertificate("named", serving("two"))
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) { // the process reports no reload
		if name, err := p.served("api.example", 0); err != nil {
			t.Fatal(err)
		} else if name == "two" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the replaced certificate is not served")
		}
	}
	if err := api.stop(); err != nil {
		t.Errorf("kube-apiserver ended with %v\n%s", err, &api.log)
	}
	if log := api.log.String(); !strings.Contains(log, "shutdown-watch-termination-grace-period") ||
		strings.Contains(log, "requestheader") {
		t.Errorf("the log does not name the flags without effect: %s", log)
	}
}

// proxied checks that the proxy with the certificate names the user.
func (p *plane) proxied(front apiservertest.Certified) {
	p.t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{
		// The client sends the certificate only if the server names its authority.
		Certificates:       []tls.Certificate{{Certificate: [][]byte{front.Cert.Raw}, PrivateKey: front.Key}},
		InsecureSkipVerify: true,
	}}
	defer tr.CloseIdleConnections()
	r, err := http.NewRequest("POST", p.url("/apis/authentication.k8s.io/v1/selfsubjectreviews"), strings.NewReader("{}"))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "X-Remote-User": {"eve"}, "X-Remote-Group": {"dev", "ops"},
		"X-Remote-Uid": {"7"}, "X-Remote-Extra-Scopes": {"a"},
	}
	res, err := (&http.Client{Transport: tr}).Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	var review authenticationv1.SelfSubjectReview
	if err := json.NewDecoder(res.Body).Decode(&review); err != nil {
		p.t.Fatal(err)
	}
	u := review.Status.UserInfo
	if res.StatusCode != http.StatusCreated || u.Username != "eve" || u.UID != "7" ||
		strings.Join(u.Groups, ",") != "dev,ops,system:authenticated" || strings.Join(u.Extra["scopes"], ",") != "a" {
		p.t.Errorf("%s %+v", res.Status, u)
	}
}

// advertised checks what clients in the cluster find.
func (p *plane) advertised() {
	p.t.Helper()
	var trust corev1.ConfigMap
	_, body := p.request("GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication", "")
	if err := json.Unmarshal([]byte(body), &trust); err != nil {
		p.t.Fatal(err)
	}
	// The process has no --client-ca-file, and its own authority ends with it.
	if _, ok := trust.Data["client-ca-file"]; ok || len(trust.Data) != 6 ||
		trust.Data["requestheader-allowed-names"] != `["front"]` ||
		!strings.HasPrefix(trust.Data["requestheader-client-ca-file"], "-----BEGIN CERTIFICATE-----\n") {
		p.t.Errorf("%s", body)
	}
	var e corev1.Endpoints
	_, body = p.request("GET", "/api/v1/namespaces/default/endpoints/kubernetes", "")
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		p.t.Fatal(err)
	}
	if len(e.Subsets) != 1 || len(e.Subsets[0].Addresses) != 1 || e.Subsets[0].Addresses[0].IP != "10.9.8.7" {
		p.t.Errorf("%s", body)
	}
	p.stored("/registry/masterleases/10.9.8.7")
}
