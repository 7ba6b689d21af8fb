package endpoints_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestSelectorBounds: selectors that are longer than any client needs are rejected before they are parsed.
func TestSelectorBounds(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 1)
	terms := func(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	for _, c := range []struct {
		query, selector string
		code            int
	}{
		{"?labelSelector=", terms(90_000, "!a"), 413},
		{"?labelSelector=", "a in (" + terms(90_000, "b") + ")", 413},
		{"?watch=1&timeoutSeconds=1&labelSelector=", terms(90_000, "!a"), 413},
		{"?watch=1&timeoutSeconds=1&fieldSelector=", terms(10_000, "metadata.name!=a"), 413},
		{"?fieldSelector=", "metadata.name=" + strings.Repeat("a", 64<<10), 413},
		{"?labelSelector=", terms(8192, "!a"), 200},
		{"?labelSelector=", "a notin (" + terms(4000, "some-value") + ")", 200},
		{"?fieldSelector=", terms(3000, "metadata.name!=a"), 200},
	} {
		var a apiservertest.Answer
		n := allocated(func() { a = s.Do("GET", configmaps+c.query+url.QueryEscape(c.selector), nil) })
		if a.Code != c.code {
			t.Errorf("%s%.40s: %d %.200s", c.query, c.selector, a.Code, a.Body)
		}
		if c.code == http.StatusRequestEntityTooLarge && n > 12<<20 {
			t.Errorf("%s%.40s: %d KiB were allocated", c.query, c.selector, n>>10)
		}
	}
	long := terms(90_000, "!a")
	n := allocated(func() {
		a := must(t, s.Do("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			`{"spec":{"resourceAttributes":{"verb":"list","resource":"pods","labelSelector":{"rawSelector":"`+long+
				`"}}}}`), http.StatusCreated)
		if !strings.Contains(string(a.Body), "labelSelector ignored due to parse error") {
			t.Errorf("%.300s", a.Body)
		}
	})
	if n > 32<<20 {
		t.Errorf("review: %d KiB were allocated", n>>10)
	}
}
