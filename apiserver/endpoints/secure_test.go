package endpoints_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// secured is a server with the mode RBAC and its default roles, and a secure port. Its plain port, which
// the embedded server speaks to, sets up what a test needs.
type secured struct {
	*apiservertest.Server
	t        *testing.T
	port     *httptest.Server
	ca       certified
	key      *ecdsa.PrivateKey
	accounts *auth.Accounts
	log      *lines
}

// lines is a log that a test reads.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// tokens are the static ones: the token of a user is its name and "-token".
const tokens = `admin-token,admin,1,system:masters
alice-token,alice,2,dev
mallory-token,mallory,3
`

const issuer = "https://issuer.test"

func startSecured(t *testing.T, configure func(*apiserver.Config)) *secured {
	t.Helper()
	s := &secured{t: t, ca: newAuthority(t), log: &lines{}}
	var err error
	if s.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if s.accounts, err = auth.NewAccounts(auth.AccountsConfig{Issuers: []string{issuer}, Signer: s.key}); err != nil {
		t.Fatal(err)
	}
	static, err := auth.ParseTokens(strings.NewReader(tokens))
	if err != nil {
		t.Fatal(err)
	}
	s.Server = apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.Certificates, c.StaticTokens, c.Accounts = auth.NewCertificates(s.ca.cert), static, s.accounts
		c.Modes, c.Anonymous = []string{"RBAC"}, true
		c.Log = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		if configure != nil {
			configure(c)
		}
	}})
	for _, name := range []string{"kube-system", "kube-public", "a", "b"} {
		p := registry.Path{Resource: s.Types.Lookup("", "v1", "namespaces")}
		if _, err := s.API.Loopback(auth.Loopback, "test").Create(context.Background(), p, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.API.EnsureRoles(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.port = httptest.NewUnstartedServer(s.API.Handler())
	s.port.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.port.Config.MaxHeaderBytes = 1 << 20
	s.port.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	s.port.StartTLS()
	t.Cleanup(func() {
		s.API.CloseWatches()
		s.port.Close()
	})
	return s
}

// want is Do on the plain port that must be answered with the code.
func (s *secured) want(code int, method, path string, body any) apiservertest.Answer {
	s.t.Helper()
	a := s.Do(method, path, body)
	if a.Code != code {
		s.t.Fatalf("%s %s: %d %s", method, path, a.Code, a.Body)
	}
	return a
}

// grant makes a role of the rules, which are JSON, and binds it to a user: in a namespace, or everywhere
// if that is empty.
func (s *secured) grant(user, namespace, name, rules string) {
	s.t.Helper()
	const group = "/apis/rbac.authorization.k8s.io/v1"
	base, kind := group+"/cluster", "ClusterRole"
	if namespace != "" {
		base, kind = group+"/namespaces/"+namespace+"/", "Role"
	}
	s.want(201, "POST", base+"roles", `{"metadata":{"name":"`+name+`"},"rules":`+rules+`}`)
	s.want(201, "POST", base+"rolebindings", `{"metadata":{"name":"`+name+`"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"`+kind+`","name":"`+name+`"},
		"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"`+user+`"}]}`)
	if err := s.Cache.Wait(context.Background(), s.revision()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *secured) revision() int64 {
	s.t.Helper()
	rev, err := s.Store.Revision(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return rev
}

// ask sends a request to the secure port; header holds names and values in turn.
func (s *secured) ask(method, path string, body any, header ...string) apiservertest.Answer {
	s.t.Helper()
	return s.askWith(s.port.Client(), method, path, body, header...)
}

func (s *secured) askWith(c *http.Client, method, path string, body any, header ...string) apiservertest.Answer {
	s.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequest(method, s.port.URL+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Content-Type" {
			req.Header.Del(header[i])
		}
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return apiservertest.Answer{Body: []byte(err.Error())}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return apiservertest.Answer{Code: resp.StatusCode, Header: resp.Header, Body: data}
}

// as is ask with a user's token.
func (s *secured) as(user, method, path string, body any, header ...string) apiservertest.Answer {
	s.t.Helper()
	return s.ask(method, path, body, append([]string{"Authorization", "Bearer " + user + "-token"}, header...)...)
}

// certified is a certificate with its key.
type certified struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) certified {
	t.Helper()
	return newCertificate(t, nil, &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
}

// newCertificate has the authority, or if that is nil the certificate itself, sign; what the template
// leaves out is that of a client that is good for an hour.
func newCertificate(t *testing.T, by *certified, c *x509.Certificate) certified {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	if c.NotAfter.IsZero() {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	if c.ExtKeyUsage == nil && !c.IsCA {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	if by == nil {
		by = &certified{c, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by.cert, &key.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certified{cert, key}
}

// client shows the certificate, whoever the server asks for.
func (s *secured) client(c certified) *http.Client {
	pair := &tls.Certificate{Certificate: [][]byte{c.cert.Raw}, PrivateKey: c.key}
	tr := s.port.Client().Transport.(*http.Transport).Clone()
	tr.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair, nil }
	s.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}
