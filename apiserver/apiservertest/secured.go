package apiservertest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
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
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// Secured is a server with the authorization mode RBAC, the default roles and a secure port. Tests create objects
// through the insecure port, with the methods of the embedded Server.
type Secured struct {
	*Server
	T *testing.T
	// Port is the secure port.
	Port *httptest.Server
	// CA signs client certificates that the server trusts.
	CA Certified
	// Key signs service account tokens, which Accounts verify.
	Key      *ecdsa.PrivateKey
	Accounts *authentication.Accounts
	// Log has the messages that the server has logged.
	Log *Lines
}

// Lines is a log that a test can read.
type Lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log. The server calls it concurrently.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the log so far.
func (l *Lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// tokens are the static tokens. The token of a user is the user's name with the suffix "-token".
const tokens = `admin-token,admin,1,system:masters
alice-token,alice,2,dev
mallory-token,mallory,3
`

// Issuer is the issuer of service account tokens.
const Issuer = "https://issuer.test"

// StartSecured starts a server with the namespaces a and b. configure changes its configuration, and may be nil.
func StartSecured(t *testing.T, configure func(*apiserver.Config)) *Secured {
	t.Helper()
	return StartSecuredWith(t, Options{Configure: configure})
}

// StartSecuredWith is StartSecured with all options.
func StartSecuredWith(t *testing.T, o Options) *Secured {
	t.Helper()
	s := &Secured{T: t, CA: NewAuthority(t), Log: &Lines{}}
	var err error
	if s.Key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if s.Accounts, err = authentication.NewAccounts(
		authentication.AccountsConfig{Issuers: []string{Issuer}, Signer: s.Key},
	); err != nil {
		t.Fatal(err)
	}
	static, err := authentication.ParseTokens(strings.NewReader(tokens))
	if err != nil {
		t.Fatal(err)
	}
	configure := o.Configure
	o.Configure = func(c *apiserver.Config) {
		c.Certificates = authentication.NewCertificates(authentication.PoolOf(s.CA.Cert))
		c.StaticTokens, c.Accounts = static, s.Accounts
		c.Modes, c.Anonymous = []string{"RBAC"}, true
		c.Log = slog.New(slog.NewTextHandler(s.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		if configure != nil {
			configure(c)
		}
	}
	s.Server = Start(t, &o)
	for _, name := range []string{"kube-system", "kube-public", "a", "b"} {
		p := registry.Path{Resource: s.Types.Lookup("", "v1", "namespaces")}
		if _, err := s.API.Loopback(authorization.Loopback, "test").Create(
			context.Background(), p, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.API.EnsureRoles(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.Port = httptest.NewUnstartedServer(s.API.Handler())
	s.Port.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Port.Config.MaxHeaderBytes = 1 << 20
	s.Port.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	s.Port.StartTLS()
	t.Cleanup(func() {
		s.API.CloseWatches()
		s.Port.Close()
	})
	return s
}

// Want sends a request to the insecure port. The test fails if the response has another code.
func (s *Secured) Want(code int, method, path string, body any) Answer {
	s.T.Helper()
	a := s.Do(method, path, body)
	if a.Code != code {
		s.T.Fatalf("%s %s: %d %s", method, path, a.Code, a.Body)
	}
	return a
}

// Grant creates a role with the rules, in JSON, and binds it to a user: a Role in a namespace, or a ClusterRole if
// namespace is empty.
func (s *Secured) Grant(user, namespace, name, rules string) {
	s.T.Helper()
	const group = "/apis/rbac.authorization.k8s.io/v1"
	base, kind := group+"/cluster", "ClusterRole"
	if namespace != "" {
		base, kind = group+"/namespaces/"+namespace+"/", "Role"
	}
	s.Want(201, "POST", base+"roles", `{"metadata":{"name":"`+name+`"},"rules":`+rules+`}`)
	s.Want(201, "POST", base+"rolebindings", `{"metadata":{"name":"`+name+
		`"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"`+kind+`","name":"`+name+`"},
		"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"`+user+`"}]}`)
	if err := s.Cache.Wait(context.Background(), s.Revision()); err != nil {
		s.T.Fatal(err)
	}
}

// Revision returns the revision of the last write.
func (s *Secured) Revision() int64 {
	s.T.Helper()
	rev, err := s.Store.Revision(context.Background())
	if err != nil {
		s.T.Fatal(err)
	}
	return rev
}

// Ask sends a request to the secure port. header has names and values alternately.
func (s *Secured) Ask(method, path string, body any, header ...string) Answer {
	s.T.Helper()
	return s.AskWith(s.Port.Client(), method, path, body, header...)
}

// AskWith is Ask with another client. If there is no response, the Body is the error message.
func (s *Secured) AskWith(c *http.Client, method, path string, body any, header ...string) Answer {
	s.T.Helper()
	a, err := Send(c, method, s.Port.URL+path, body, header...)
	if err != nil {
		return Answer{Body: []byte(err.Error())}
	}
	return a
}

// As is Ask with a user's token.
func (s *Secured) As(user, method, path string, body any, header ...string) Answer {
	s.T.Helper()
	return s.Ask(method, path, body, append([]string{"Authorization", "Bearer " + user + "-token"}, header...)...)
}

// Certified is a certificate with its key.
type Certified struct {
	Cert *x509.Certificate
	Key  *ecdsa.PrivateKey
}

// NewAuthority returns the certificate and the key of a certificate authority.
func NewAuthority(t *testing.T) Certified {
	t.Helper()
	return NewCertificate(t, nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
}

// NewCertificate returns a certificate with the fields of c. The authority by signs it. If by is nil, it is
// self-signed. By default it is a client certificate that is valid for an hour.
func NewCertificate(t *testing.T, by *Certified, c *x509.Certificate) Certified {
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
		by = &Certified{c, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by.Cert, &key.PublicKey, by.Key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return Certified{cert, key}
}

// Client returns a client that sends the certificate.
func (s *Secured) Client(c Certified) *http.Client {
	pair := &tls.Certificate{Certificate: [][]byte{c.Cert.Raw}, PrivateKey: c.Key}
	tr := s.Port.Client().Transport.(*http.Transport).Clone()
	tr.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return pair, nil
	}
	s.T.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// Settle waits until the cache has the last write.
func (s *Secured) Settle() {
	s.T.Helper()
	if err := s.Cache.Wait(s.T.Context(), s.Revision()); err != nil {
		s.T.Fatal(err)
	}
}
