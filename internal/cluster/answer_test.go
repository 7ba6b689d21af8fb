package cluster

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// TestOnlyOurServersAnswer: for other servers, and for users without the permission, the error is ErrNotAnswered; for
// an overloaded server it is not.
func TestOnlyOurServersAnswer(t *testing.T) {
	const object = `{"object":{"object":{"apiVersion":"v1","kind":"ConfigMap","name":"o"}},"resourceVersion":"7"}`
	status := func(reason, details string) string {
		return `{"kind":"Status","apiVersion":"v1","message":"m","reason":"` + reason + `","details":{` + details + `}}`
	}
	for _, c := range []struct {
		code       int
		body       string
		unanswered bool
		want       error
	}{
		{200, object, false, nil},
		{200, "<html>", true, ErrNotAnswered},
		{200, `{"paths":[]}`, true, ErrNotAnswered},
		{404, "404 page not found", true, ErrNotAnswered},
		{404, status("NotFound", ""), true, ErrNotAnswered},
		{404, status("NotFound", `"name":"o","kind":"configmaps"`), false, nil},
		{403, status("Forbidden", ""), true, ErrNotAnswered},
		{405, status("MethodNotAllowed", ""), true, ErrNotAnswered},
		{413, status("RequestEntityTooLarge", ""), true, ErrNotAnswered},
		{400, status("BadRequest", ""), false, nil},
		{502, "bad gateway", true, ErrNotAnswered},
		{429, status("TooManyRequests", ""), false, nil},
		{504, status("Timeout", ""), false, nil},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.String() != "/kubecascade/v1/tree?name=o&namespace=a&resource=configmaps" {
				t.Errorf("asked %s %s", r.Method, r.URL)
			}
			w.WriteHeader(c.code)
			_, _ = w.Write([]byte(c.body))
		}))
		tree := &explain.Tree{}
		err := (&Client{URL: s.URL, HTTP: s.Client()}).Ask(t.Context(), &Question{
			Path: "tree", Namespace: "a", Objects: []Named{{Resource: "configmaps", Namespace: "a", Name: "o"}},
		}, tree)
		s.Close()
		switch {
		case errors.Is(err, ErrNotAnswered) != c.unanswered, c.want != nil && !errors.Is(err, c.want):
			t.Errorf("%d %s: %v", c.code, c.body, err)
		case (err == nil) != (c.body == object), err == nil && (tree.Revision != 7 || tree.Object.Object.Name != "o"):
			t.Errorf("%d %s: %v, %+v", c.code, c.body, err, tree)
		}
	}
}
