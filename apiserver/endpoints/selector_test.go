package endpoints_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	selectors "github.com/kubecascade/kubecascade/apiserver/selector"
)

// TestSelectorBounds: selectors that no client needs are rejected before they are parsed, and kept.
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

// TestMatcherTwin: selectors of many terms select the same as upstream's own.
func TestMatcherTwin(t *testing.T) {
	apiservertest.Sequential(t)
	matched := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		key := func() string { return string(rune('a' + r.IntN(6))) }
		value := func() string { return fmt.Sprint(r.IntN(12)) }
		values := func() string {
			all := []string{value()}
			for range r.IntN(14) {
				all = append(all, value())
			}
			return strings.Join(all, ",")
		}
		var terms []string
		for range r.IntN(20) {
			k := key()
			terms = append(terms, []string{k, "!z" + k, k + "!=" + value(), k + " in (" + values() + ")",
				k + " notin (" + values() + ")",
				k + " notin (" + value() + ")", k + ">" + value(), "y" + k + "!=" + value()}[r.IntN(8)])
		}
		selector, err := labels.Parse(strings.Join(terms, ","))
		if err != nil {
			t.Fatal(err)
		}
		set := labels.Set{}
		for range r.IntN(9) {
			set[key()] = value()
		}
		m := selectors.Of(selector)
		want := selector.Matches(set)
		if got := m == nil || m.Matches(set); got != want {
			t.Fatalf("seed %d: %v: %s of %v", seed, got, selector, set)
		}
		if want && len(terms) > 8 {
			matched++
		}
	}
	if matched < 50 {
		t.Errorf("%d long selectors matched", matched)
	}
}
