package authentication_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

func TestParseTokens(t *testing.T) {
	tokens, err := authentication.ParseTokens(
		strings.NewReader("t1,alice,u1,\"dev,ops\"\n,erin,u2\nt2,bob,u3\nt2,carol,u4,system:authenticated\n"))
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]authorization.User{
		"t1": {Name: "alice", UID: "u1", Groups: []string{"dev", "ops", "system:authenticated"}},
		"t2": {Name: "carol", UID: "u4", Groups: []string{"system:authenticated"}},
		"":   {}, "t": {}, "t11": {},
	} {
		got, ok := tokens.User(token)
		if diff := cmp.Diff(want, got); diff != "" || ok != (want.Name != "") {
			t.Errorf("%q: %v %s", token, ok, diff)
		}
	}
	for _, bad := range []string{"SECRET,alice", "\"SECRET,alice,1\n", "a\"SECRET,x,y", "SECRET"} {
		if _, err := authentication.ParseTokens(strings.NewReader(bad)); err == nil ||
			strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// signers are keys of every kind that signs tokens.
func signers(t testing.TB) map[string]crypto.Signer {
	t.Helper()
	out := map[string]crypto.Signer{}
	var err error
	if out["RSA"], err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	for name, curve := range map[string]elliptic.Curve{
		"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521(),
	} {
		if out[name], err = ecdsa.GenerateKey(curve, rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// there implements Objects: every object exists and has the uid 1.
type there struct{}

func (there) Bound(string, string, string) (string, time.Time, bool) { return "1", time.Time{}, true }

// TestKeysVerifyOnlyTheirTokens: every kind of key is read in every form, signs, and verifies its own tokens only.
func TestKeysVerifyOnlyTheirTokens(t *testing.T) {
	now := time.Now()
	claim := authorization.TokenClaim{
		Namespace: "n", Name: "a", UID: "1", Audiences: []string{"i"}, Issued: now, Expires: now.Add(time.Hour),
	}
	tokens, verifiers := map[string]string{}, map[string]*authentication.Accounts{}
	for name, s := range signers(t) {
		pkcs8, err := x509.MarshalPKCS8PrivateKey(s)
		if err != nil {
			t.Fatal(err)
		}
		pkix, _ := x509.MarshalPKIXPublicKey(s.Public()) // the parser rejects nil
		read, err := authentication.ParseSigner(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
		if err != nil {
			t.Fatal(err)
		}
		all := []*pem.Block{{Type: "EC PARAMETERS"}, {Type: "PUBLIC KEY", Bytes: pkix}, {Type: "PRIVATE KEY", Bytes: pkcs8}}
		if key, ok := s.Public().(*rsa.PublicKey); ok {
			all[0] = &pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(key)}
		}
		var keys []crypto.PublicKey
		for _, b := range all {
			more, err := authentication.ParsePublicKeys(pem.EncodeToMemory(b))
			if (err == nil) != (b.Type != "EC PARAMETERS") {
				t.Errorf("%s of %s: %v", b.Type, name, err)
			}
			keys = append(keys, more...)
		}
		a, err := authentication.NewAccounts(authentication.AccountsConfig{Issuers: []string{"i"}, Signer: read, Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		if tokens[name], err = a.Issue(claim); err != nil {
			t.Fatal(err)
		}
		verifiers[name] = a
	}
	for signed, token := range tokens {
		for name, v := range verifiers {
			u, _, err := v.Verify(token, nil, now, there{})
			if (err == nil) != (name == signed) || err == nil && u.Name != "system:serviceaccount:n:a" {
				t.Errorf("signed with %s, verified with %s: %v %v", signed, name, u, err)
			}
		}
	}
	for _, bad := range []string{"", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := authentication.ParseSigner([]byte(bad)); err == nil {
			t.Errorf("%q is a private key", bad)
		}
		if _, err := authentication.ParsePublicKeys([]byte(bad)); err == nil {
			t.Errorf("%q is a public key", bad)
		}
	}
}

// TestTokensExpireWithoutLeeway: a token is valid from its start, with a tolerance for clocks, to the second of its
// expiry, even if it was verified before.
func TestTokensExpireWithoutLeeway(t *testing.T) {
	s := signers(t)["P-256"]
	a, err := authentication.NewAccounts(authentication.AccountsConfig{Issuers: []string{"i"}, Signer: s})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(1_000_000, 0)
	token, err := a.Issue(authorization.TokenClaim{
		Namespace: "n", Name: "a", UID: "1", Audiences: []string{"i"}, Issued: start, Expires: start.Add(time.Minute),
	})
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]error{
		-time.Minute: authentication.ErrNotYet, -6 * time.Second: authentication.ErrNotYet, -5 * time.Second: nil, 0: nil,
		59 * time.Second: nil,
		time.Minute:      authentication.ErrExpired, time.Hour: authentication.ErrExpired,
	} {
		if _, _, err := a.Verify(token, nil, start.Add(after), there{}); !errors.Is(err, want) {
			t.Errorf("after %v: %v", after, err)
		}
	}
}

// held has the uids of objects by resource, namespace and name.
type held map[string]string

func (h held) Bound(resource, namespace, name string) (string, time.Time, bool) {
	uid, ok := h[resource+" "+namespace+"/"+name]
	uid, deleted := strings.CutPrefix(uid, "deleted ")
	if deleted {
		return uid, time.Unix(1, 0), ok
	}
	return uid, time.Time{}, ok
}

// TestTokensNeedTheirBoundObjects: the objects of a token must exist, have the same uid, and not be deleted for longer
// than the grace period (K pkg/serviceaccount/claims.go: Validate).
func TestTokensNeedTheirBoundObjects(t *testing.T) {
	s := signers(t)["P-256"]
	a, err := authentication.NewAccounts(authentication.AccountsConfig{Issuers: []string{"i"}, Signer: s})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	const gone = "service account token has been invalidated"
	ref := &authorization.TokenRef{Name: "x", UID: "2"}
	for _, c := range []struct {
		claim  authorization.TokenClaim
		there  held
		issued time.Duration
		fault  string
	}{
		{authorization.TokenClaim{}, held{"serviceaccounts n/a": "1"}, 0, ""},
		{authorization.TokenClaim{}, held{"serviceaccounts n/a": "1"}, time.Minute,
			"service account token is not valid yet"},
		{authorization.TokenClaim{}, nil, 0, `serviceaccounts "a" not found`},
		{authorization.TokenClaim{}, held{"serviceaccounts n/a": "2"}, 0,
			"service account UID (2) does not match claim (1)"},
		{
			authorization.TokenClaim{}, held{"serviceaccounts n/a": "deleted 2"}, 0,
			"service account UID (2) does not match claim (1)",
		},
		{authorization.TokenClaim{}, held{"serviceaccounts n/a": "deleted 1"}, 0,
			"service account n/a has been deleted"},
		{authorization.TokenClaim{Secret: ref}, held{"serviceaccounts n/a": "1", "secrets n/x": "2"}, 0, ""},
		{authorization.TokenClaim{Secret: ref}, held{"serviceaccounts n/a": "1"}, 0, gone},
		{authorization.TokenClaim{Secret: ref}, held{"serviceaccounts n/a": "1", "secrets m/x": "2"}, 0, gone},
		{authorization.TokenClaim{Secret: ref}, held{"serviceaccounts n/a": "1", "secrets n/x": "deleted 2"}, 0, gone},
		{
			authorization.TokenClaim{Secret: ref}, held{"serviceaccounts n/a": "1", "secrets n/x": "3"}, 0,
			"secret UID (3) does not match service account secret ref claim (2)",
		},
		{
			authorization.TokenClaim{Pod: ref}, held{"serviceaccounts n/a": "1", "pods n/x": "3"}, 0,
			"pod UID (3) does not match service account pod ref claim (2)",
		},
		{
			authorization.TokenClaim{Node: ref}, held{"serviceaccounts n/a": "1", "nodes /x": "3"}, 0,
			"node UID (3) does not match service account node ref claim (2)",
		},
		{authorization.TokenClaim{Pod: ref, Node: ref}, held{"serviceaccounts n/a": "1", "pods n/x": "2"}, 0, ""},
	} {
		c.claim.Namespace, c.claim.Name, c.claim.UID, c.claim.Audiences = "n", "a", "1", []string{"i"}
		c.claim.Issued, c.claim.Expires = now.Add(c.issued), now.Add(time.Hour)
		token, err := a.Issue(c.claim)
		if err != nil {
			t.Fatal(err)
		}
		fault := ""
		if _, _, err := a.Verify(token, nil, now, c.there); err != nil {
			fault = err.Error()
		}
		if fault != c.fault {
			t.Errorf("%+v with %v: %s", c.claim, c.there, fault)
		}
	}
}

// FuzzVerify: only signed tokens are valid.
func FuzzVerify(f *testing.F) {
	a, err := authentication.NewAccounts(
		authentication.AccountsConfig{Issuers: []string{"i"}, Signer: signers(f)["P-256"]})
	if err != nil {
		f.Fatal(err)
	}
	now := time.Now()
	token, err := a.Issue(
		authorization.TokenClaim{
			Namespace: "n", Name: "a", UID: "1", Audiences: []string{"i"}, Issued: now, Expires: now.Add(time.Hour),
		},
	)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token)
	f.Add("eyJhbGciOiJub25lIn0.eyJpc3MiOiJpIn0.")
	f.Add("..")
	f.Fuzz(func(t *testing.T, text string) {
		if _, _, err := a.Verify(text, nil, now, there{}); err == nil && text != token {
			t.Errorf("%q is verified", text)
		}
	})
}
