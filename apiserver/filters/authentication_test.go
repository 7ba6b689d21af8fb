package filters_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// account creates a service account and returns the claims of its tokens.
func (s *secured) account(namespace, name string) jwt.MapClaims {
	s.T.Helper()
	a := s.Want(201, "POST", "/api/v1/namespaces/"+namespace+"/serviceaccounts", `{"metadata":{"name":"`+name+`"}}`)
	now := time.Now()
	return jwt.MapClaims{
		"iss": apiservertest.Issuer, "sub": "system:serviceaccount:" + namespace + ":" + name,
		"aud": []string{apiservertest.Issuer},
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"kubernetes.io": map[string]any{
			"namespace": namespace, "serviceaccount": map[string]any{"name": name, "uid": string(a.Object().GetUID())},
		},
	}
}

// sign signs claims like the server, after change has modified the token.
func (s *secured) sign(c jwt.MapClaims, method jwt.SigningMethod, key any, change func(*jwt.Token)) string {
	s.T.Helper()
	t := jwt.NewWithClaims(method, c)
	if change != nil {
		change(t)
	}
	text, err := t.SignedString(key)
	if err != nil {
		s.T.Fatal(err)
	}
	return text
}

// token issues a token of a service account by a TokenRequest.
func (s *secured) token(namespace, account, body string) string {
	s.T.Helper()
	a := s.Want(201, "POST", "/api/v1/namespaces/"+namespace+"/serviceaccounts/"+account+"/token", body)
	return a.Object().Object["status"].(map[string]any)["token"].(string)
}

func with(c jwt.MapClaims, name string, value any) jwt.MapClaims {
	out := jwt.MapClaims{}
	for k, v := range c {
		out[k] = v
	}
	if out[name] = value; value == nil {
		delete(out, name)
	}
	return out
}

// TestForgedTokens: only the server's own tokens, unchanged and within their validity period, authenticate a user.
func TestForgedTokens(t *testing.T) {
	s := start(t, nil)
	good := s.account("a", "robot")
	es, now := jwt.SigningMethodES256, time.Now()
	token := s.sign(good, es, s.Key, nil)
	parts := strings.Split(token, ".")
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&s.Key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	signature[7] ^= 1
	elevated := with(good, "sub", "system:serviceaccount:kube-system:robot")
	payload, err := json.Marshal(elevated)
	if err != nil {
		t.Fatal(err)
	}
	own := s.token("a", "robot", `{}`)
	kid := func(t *jwt.Token) { t.Header["kid"] = kidOf(own) }
	for name, ok := range map[string]string{
		"issued": own, "signed": token, "with the key's name": s.sign(good, es, s.Key, kid),
	} {
		if a := s.Ask("GET", "/api", nil, "Authorization", "Bearer "+ok); a.Code != http.StatusOK {
			t.Fatalf("a good token, %s: %d %s", name, a.Code, a.Body)
		}
	}
	for name, forged := range map[string]string{
		"expired":              s.sign(with(good, "exp", now.Add(-time.Second).Unix()), es, s.Key, nil),
		"without an end":       s.sign(with(good, "exp", nil), es, s.Key, nil),
		"not yet valid":        s.sign(with(good, "nbf", now.Add(time.Minute).Unix()), es, s.Key, nil),
		"issued in the future": s.sign(with(good, "iat", now.Add(time.Minute).Unix()), es, s.Key, nil),
		"another audience":     s.sign(with(good, "aud", []string{"vault"}), es, s.Key, nil),
		"no audience":          s.sign(with(good, "aud", nil), es, s.Key, nil),
		"another issuer":       s.sign(with(good, "iss", "https://else.test"), es, s.Key, nil),
		"no issuer":            s.sign(with(good, "iss", nil), es, s.Key, nil),
		"unsigned":             s.sign(good, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil),
		"unsigned, named key":  s.sign(good, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, kid),
		"signature cut off":    parts[0] + "." + parts[1] + ".",
		"another key":          s.sign(good, es, other, nil),
		"another key, our kid": s.sign(good, es, other, kid),
		"unknown kid":          s.sign(good, es, s.Key, func(t *jwt.Token) { t.Header["kid"] = "x" }),
		"public key as secret": s.sign(good, jwt.SigningMethodHS256, public, nil),
		"critical header":      s.sign(good, es, s.Key, func(t *jwt.Token) { t.Header["crit"] = []string{"b64"} }),
		"payload exchanged":    parts[0] + "." + base64.RawURLEncoding.EncodeToString(payload) + "." + parts[2],
		"signature changed":    parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(signature),
		"subject of another":   s.sign(elevated, es, s.Key, nil),
		"account of another uid": s.sign(with(good, "kubernetes.io", map[string]any{"namespace": "a",
			"serviceaccount": map[string]any{"name": "robot", "uid": "0"}}), es, s.Key, nil),
		"no account": s.sign(with(with(good, "sub", "system:serviceaccount:a:nobody"), "kubernetes.io",
			map[string]any{"namespace": "a",
				"serviceaccount": map[string]any{"name": "nobody", "uid": "0"}}), es, s.Key, nil),
		"account by a path": s.sign(with(with(good, "sub", "system:serviceaccount:a/../b:robot"), "kubernetes.io",
			map[string]any{"namespace": "a/../b",
				"serviceaccount": map[string]any{"name": "robot", "uid": "0"}}), es, s.Key, nil),
		"account by its key": s.sign(with(with(good, "sub", "system:serviceaccount::a/robot"), "kubernetes.io",
			map[string]any{
				"serviceaccount": map[string]any{
					"name": "a/robot", "uid": good["kubernetes.io"].(map[string]any)["serviceaccount"].(map[string]any)["uid"],
				}}), es, s.Key, nil),
		"four parts": token + ".x",
	} {
		a := s.Ask("GET", "/healthz", nil, "Authorization", "Bearer "+forged)
		if a.Code != http.StatusUnauthorized || a.Status().Message != "Unauthorized" {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
		if log := s.Log.String(); strings.Contains(log, forged) ||
			len(forged) > 100 && strings.Contains(log, forged[len(forged)-40:]) {
			t.Errorf("%s: the token is in the log", name)
		}
	}
}

func kidOf(token string) string {
	t, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	if err != nil {
		return ""
	}
	kid, _ := t.Header["kid"].(string)
	return kid
}

// TestRevokedTokens: a token becomes invalid when its account or the object that it is bound to is deleted.
func TestRevokedTokens(t *testing.T) {
	s := start(t, nil)
	const base = "/api/v1/namespaces/a/"
	code := func(token string) int { return s.Ask("GET", "/api", nil, "Authorization", "Bearer "+token).Code }
	s.account("a", "one")
	s.account("a", "two")
	s.Want(201, "POST", base+"secrets", `{"metadata":{"name":"s"}}`)
	s.Want(201, "POST", base+"pods",
		`{"metadata":{"name":"p"},"spec":{"serviceAccountName":"two","containers":[{"name":"c","image":"i"}]}}`)
	bound := func(kind, more string) string {
		return `{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"` + kind + `",` + more + `}}}`
	}
	plain, secret := s.token("a", "one", `{"spec":{}}`), s.token("a", "one", bound("Secret", `"name":"s"`))
	pod := s.token("a", "two", bound("Pod", `"name":"p"`))
	for _, step := range []struct {
		remove                 string
		plain, secret, withPod int
	}{
		{"", 200, 200, 200},
		{"secrets/s", 200, 401, 200},
		{"pods/p?gracePeriodSeconds=0", 200, 401, 401},
		{"serviceaccounts/one", 401, 401, 401},
	} {
		if step.remove != "" {
			s.Want(200, "DELETE", base+step.remove, nil)
			s.Settle()
		}
		if a, b, c := code(plain), code(secret), code(pod); a != step.plain || b != step.secret || c != step.withPod {
			t.Errorf("without %q: %d, %d, %d", step.remove, a, b, c)
		}
	}
	s.account("a", "one")
	if got := code(plain); got != 401 {
		t.Errorf("an account of the same name: %d", got)
	}
}

// TestCertificates: a certificate authenticates a user only if the CA of clients has signed it, it has not expired, and
// it has a common name.
func TestCertificates(t *testing.T) {
	s := start(t, nil)
	masters := pkix.Name{CommonName: "root", Organization: []string{"system:masters"}}
	another := apiservertest.NewAuthority(t)
	for name, c := range map[string]struct {
		cert apiservertest.Certified
		code int
	}{
		"good":              {apiservertest.NewCertificate(t, &s.CA, &x509.Certificate{Subject: masters}), 200},
		"another authority": {apiservertest.NewCertificate(t, &another, &x509.Certificate{Subject: masters}), 401},
		"its own":           {apiservertest.NewCertificate(t, nil, &x509.Certificate{Subject: masters}), 401},
		"expired": {apiservertest.NewCertificate(
			t, &s.CA,
			&x509.Certificate{Subject: masters, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour)},
		), 401},
		"not yet": {apiservertest.NewCertificate(
			t, &s.CA,
			&x509.Certificate{Subject: masters, NotBefore: time.Now().Add(time.Hour), NotAfter: time.Now().Add(2 * time.Hour)},
		), 401},
		"a server's": {apiservertest.NewCertificate(
			t, &s.CA, &x509.Certificate{Subject: masters, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
		), 401},
		"nameless": {apiservertest.NewCertificate(
			t, &s.CA, &x509.Certificate{Subject: pkix.Name{Organization: []string{"system:masters"}}}), 401},
	} {
		client := s.Client(c.cert)
		for range 2 { // the second result is cached
			if a := s.AskWith(client, "GET", "/api/v1/namespaces/b/secrets", nil); a.Code != c.code {
				t.Errorf("%s: %d %s", name, a.Code, a.Body)
			}
		}
	}
	bad := s.Client(apiservertest.NewCertificate(t, &another, &x509.Certificate{Subject: masters}))
	if a := s.AskWith(bad, "GET", "/api", nil, "Authorization", "Bearer alice-token"); a.Code != 200 {
		t.Errorf("a wrong certificate with a good token: %d %s", a.Code, a.Body)
	}
}

// TestWrongHeaders: invalid credentials get the code 401 for each path, and headers with which a proxy could name a
// user are ignored.
func TestWrongHeaders(t *testing.T) {
	s := start(t, nil)
	for _, h := range [][]string{
		{"Bearer wrong"}, {"Bearer "}, {"Bearer"}, {"Bearer alice-token x"}, {"Bearer alice-token\tx"},
		{"Basic YWRtaW46eA=="}, {"alice-token"},
		{"Bearer admin-toke"}, {"Bearer admin-token2"}, {"Bearer alice-token", "Bearer admin-token"}, {""},
		{"Bearer wrong", "Bearer admin-token"},
	} {
		for _, path := range []string{"/api/v1/namespaces", "/healthz", "/version", "/nothing"} {
			var header []string
			for _, v := range h {
				header = append(header, "Authorization", v)
			}
			if a := s.Ask("GET", path, nil, header...); a.Code != 401 {
				t.Errorf("%q: %s: %d %s", h, path, a.Code, a.Body)
			}
		}
	}
	for _, h := range [][]string{
		{"X-Remote-User", "admin", "X-Remote-Group", "system:masters"}, {"X-Forwarded-User", "admin"},
		{"X-Original-Url", "/healthz"}, {"X-Http-Method-Override", "DELETE"},
		{"Impersonate_User", "admin"}, {"Impersonate-User", "admin"},
		{"Impersonate-User", "system:anonymous", "Impersonate-Group", "system:masters"},
		{"Connection", "Authorization, Impersonate-User"}, {"Cookie", "token=admin-token"},
	} {
		const path = "/api/v1/namespaces/b/secrets?access_token=admin-token&token=admin-token"
		if a := s.Ask("GET", path, nil, h...); a.Code != 403 ||
			!strings.Contains(a.Status().Message, `User "system:anonymous"`) {
			t.Errorf("%q: %d %s", h, a.Code, a.Body)
		}
	}
	if a := s.Ask("GET", "/api/v1/namespaces", nil, "Authorization", "Bearer alice-token", "X-Big", strings.Repeat("x", 2<<
		20)); a.Code != http.StatusRequestHeaderFieldsTooLarge && a.Code != 0 {
		t.Errorf("two MiB of headers: %d %s", a.Code, a.Body)
	}
}

// TestTokenReview: a review returns the user and the audiences of a token.
func TestTokenReview(t *testing.T) {
	s := start(t, nil)
	early := with(s.account("a", "robot"), "iat", time.Now().Add(time.Minute).Unix())
	token := s.token("a", "robot", `{"spec":{"audiences":["vault","`+apiservertest.Issuer+`"]}}`)
	review := func(token, audiences string) map[string]any {
		return s.Want(201, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+token+`","audiences":`+
			audiences+`}}`).Object().Object["status"].(map[string]any)
	}
	for _, c := range []struct{ token, audiences, user, audience, message string }{
		{token, `[]`, "system:serviceaccount:a:robot", apiservertest.Issuer, ""},
		{token, `["vault","else"]`, "system:serviceaccount:a:robot", "vault", ""},
		{
			token, `["else"]`, "", "",
			`token audiences ["vault" "https://issuer.test"] is invalid for the target audiences ["else"]`,
		},
		{"alice-token", `[]`, "alice", apiservertest.Issuer, ""},
		{"alice-token", `["else"]`, "", "", "invalid bearer token"},
		{"nobody", `[]`, "", "", "invalid bearer token"},
		{s.sign(early, jwt.SigningMethodES256, s.Key, nil), `[]`, "", "", "service account token is issued in the future"},
	} {
		got := review(c.token, c.audiences)
		user, _ := got["user"].(map[string]any)
		name, _ := user["username"].(string)
		message, _ := got["error"].(string)
		accepted, _ := got["audiences"].([]any)
		if name != c.user || message != c.message || (c.audience == "") != (len(accepted) == 0) ||
			c.audience != "" && accepted[0] != c.audience ||
			(got["authenticated"] == true) != (c.user != "") {
			t.Errorf("%s for %s: %v", c.user, c.audiences, got)
		}
	}
	s.Want(400, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{}}`)
}

// TestDiscoveryOfKeys: a client that may read the keys can verify a token with them.
func TestDiscoveryOfKeys(t *testing.T) {
	s := start(t, func(c *apiserver.Config) { c.KeysURL = "https://here.test/openid/v1/jwks" })
	if a := s.Ask("GET", "/openid/v1/jwks", nil); a.Code != 403 {
		t.Errorf("anonymous: %d", a.Code)
	}
	a := s.As("admin", "GET", "/.well-known/openid-configuration", nil)
	if got := string(a.Body); a.Code != 200 || got !=
		`{"issuer":"https://issuer.test","jwks_uri":"https://here.test/openid/v1/jwks","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256"]}` {
		t.Errorf("%d %s", a.Code, got)
	}
	a = s.As("admin", "GET", "/openid/v1/jwks", nil)
	var set struct {
		Keys []struct{ Kid, Kty, Crv, X, Y string }
	}
	if err := json.Unmarshal(a.Body, &set); err != nil || len(set.Keys) != 1 ||
		a.Header.Get("Content-Type") != "application/jwk-set+json" {
		t.Fatalf("%v: %s", err, a.Body)
	}
	k := set.Keys[0]
	s.account("a", "robot")
	token := s.token("a", "robot", `{}`)
	x, errX := base64.RawURLEncoding.DecodeString(k.X)
	y, errY := base64.RawURLEncoding.DecodeString(k.Y)
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
	if errX != nil || errY != nil || err != nil || k.Kid != kidOf(token) {
		t.Fatalf("%v %v %v: %+v", errX, errY, err, k)
	}
	if _, err := jwt.Parse(token, func(*jwt.Token) (any, error) { return public, nil }); err != nil {
		t.Error(err)
	}
}
