package filters_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
)

// whoami returns the code of a SelfSubjectReview and its user, without the credential's ID.
func (s *secured) whoami(c *http.Client, header ...string) (int, authenticationv1.UserInfo) {
	s.T.Helper()
	a := s.AskWith(c, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`, header...)
	var r authenticationv1.SelfSubjectReview
	if a.Code == http.StatusCreated {
		if err := json.Unmarshal(a.Body, &r); err != nil {
			s.T.Fatal(err)
		}
	}
	delete(r.Status.UserInfo.Extra, "authentication.kubernetes.io/credential-id")
	return a.Code, r.Status.UserInfo
}

// certified is a client certificate with the common name.
func certified(t *testing.T, by *apiservertest.Certified, name string) apiservertest.Certified {
	t.Helper()
	return apiservertest.NewCertificate(t, by, &x509.Certificate{Subject: pkix.Name{CommonName: name}})
}

// TestOnlyCertifiedProxyNamesUsers: it has a certificate of the authority of proxies, and an allowed name.
func TestOnlyCertifiedProxyNamesUsers(t *testing.T) {
	proxies := apiservertest.NewAuthority(t)
	s := start(t, func(c *apiserver.Config) {
		c.Proxies = authentication.NewProxies(authentication.RequestHeader{
			AllowedNames: []string{"front"}, UsernameHeaders: []string{"X-Remote-User", "X-User"},
			UIDHeaders: []string{"X-Remote-Uid"}, GroupHeaders: []string{"X-Remote-Group", "X-Group"},
			ExtraHeadersPrefix: []string{"X-Remote-Extra-"},
		}, authentication.PoolOf(proxies.Cert))
	})
	type user = authenticationv1.UserInfo
	type extra = map[string]authenticationv1.ExtraValue
	authenticated := func(groups ...string) []string { return append(groups, "system:authenticated") }
	front, other := s.Client(certified(t, &proxies, "front")), s.Client(certified(t, &proxies, "other"))
	bob := s.Client(certified(t, &s.CA, "bob"))
	expired := s.Client(apiservertest.NewCertificate(t, &proxies, &x509.Certificate{
		Subject:   pkix.Name{CommonName: "front"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(-time.Minute),
	}))
	for name, c := range map[string]struct {
		client *http.Client
		header []string
		code   int
		want   user
	}{
		"all": {
			front, []string{
				"X-Remote-User", "eve", "X-Remote-Uid", "7", "X-Remote-Group", "dev", "X-Remote-Group", "ops", "X-Group", "more",
				"x-remote-extra-Scopes", "a", "X-Remote-Extra-Scopes", "b", "X-Remote-Extra-acme.com%2fproject", "p",
			}, 201,
			user{
				Username: "eve", UID: "7", Groups: authenticated("dev", "ops", "more"),
				Extra: extra{"scopes": {"a", "b"}, "acme.com/project": {"p"}},
			},
		},
		"second header": {
			front, []string{"X-User", "eve", "X-Remote-User", ""}, 201, user{Username: "eve", Groups: authenticated()},
		},
		"unauthenticated": {
			front, []string{"X-Remote-User", "eve", "X-Remote-Group", "system:unauthenticated"}, 403, user{},
		},
		"impersonates": {
			front, []string{"X-Remote-User", "root", "X-Remote-Group", "system:masters", "Impersonate-User", "carol"}, 201,
			user{Username: "carol", Groups: authenticated()},
		},
		"no name": {front, []string{"X-Remote-Group", "system:masters"}, 401, user{}},
		"no name, token": {
			front, []string{"Authorization", "Bearer alice-token"}, 201,
			user{Username: "alice", UID: "2", Groups: authenticated("dev")},
		},
		"name that is not allowed": {other, []string{"X-Remote-User", "eve"}, 401, user{}},
		"expired":                  {expired, []string{"X-Remote-User", "eve"}, 401, user{}},
		"certificate of a client": {
			bob, []string{"X-Remote-User", "root", "X-Remote-Group", "system:masters"}, 201,
			user{Username: "bob", Groups: authenticated()},
		},
		"no certificate": {
			s.Port.Client(), []string{"X-Remote-User", "root", "X-Remote-Group", "system:masters"}, 403, user{},
		},
	} {
		code, got := s.whoami(c.client, c.header...)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); code != c.code || diff != "" {
			t.Errorf("%s: %d %s", name, code, diff)
		}
	}
}

// TestProxyHeaders: nothing behind authentication sees the headers that name a user.
func TestProxyHeaders(t *testing.T) {
	p := authentication.NewProxies(authentication.RequestHeader{
		UsernameHeaders: []string{"x-user"}, UIDHeaders: []string{"X-Uid"}, GroupHeaders: []string{"X-Group"},
		ExtraHeadersPrefix: []string{"x-extra-"},
	}, nil)
	h := http.Header{"X-User": {"a"}, "X-Uid": {"1"}, "X-Group": {"g"}, "X-Extra-A": {"b"}, "X-Extr": {"c"}}
	p.Clear(h)
	if diff := cmp.Diff(http.Header{"X-Extr": {"c"}}, h); diff != "" {
		t.Error(diff)
	}
}
