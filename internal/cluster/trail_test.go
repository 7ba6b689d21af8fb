package cluster

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestMissingTrailsDiffer: the errors differ for a server without a trail, for one without a record of the object, and
// for one that doesn't reveal it.
func TestMissingTrailsDiffer(t *testing.T) {
	const (
		notFound  = `{"kind":"Status","code":404,"reason":"NotFound","message":"not known"}`
		forbidden = `{"kind":"Status","code":403,"reason":"Forbidden","message":"not allowed"}`
	)
	type answer struct {
		code int
		body string
	}
	for name, c := range map[string]struct {
		trail, index answer
		none         bool
		message      string
	}{
		"kube-apiserver": {answer{404, "404 page not found"}, answer{404, "404 page not found"}, true, "audit log"},
		"another route": {
			answer{404, "404 page not found"}, answer{200, `{"paths":["/kubecascade/v1/tree"]}`}, true, "audit log",
		},
		"not known": {answer{404, notFound}, answer{200, `{"paths":["/kubecascade/v1/trail"]}`}, false, "not known"},
		"no index":  {answer{404, notFound}, answer{403, forbidden}, false, "not known"},
		"forbidden": {answer{403, forbidden}, answer{403, forbidden}, false, "not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				a := c.trail
				if r.URL.Path == "/kubecascade/v1" {
					a = c.index
				}
				w.WriteHeader(a.code)
				_, _ = w.Write([]byte(a.body))
			}))
			defer s.Close()
			_, err := (&Client{URL: s.URL, HTTP: s.Client()}).Trail(t.Context(), url.Values{"kind": {"pod"}})
			if err == nil || errors.Is(err, errNoTrail) != c.none || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%v", err)
			}
		})
	}
}
