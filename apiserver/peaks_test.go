//go:build !race

package apiserver_test

import (
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestPeaks: requests with many small values take no more memory than is charged for them, of all kinds of bodies, but
// for what the collector has not found yet. (The race detector has memory of its own.)
func TestPeaks(t *testing.T) {
	const n, applied = 50_000, 10_000 // as many as an apply document may have
	const slack = 8 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	s := apiservertest.Start(t, nil)
	defineOpen(t, s)
	open := func(spec string) string {
		return `{"apiVersion":"open.test/v1","kind":"Open","metadata":{"name":"a"},"spec":` + spec + `}`
	}
	policy := rules(n)
	for _, c := range []struct{ what, method, path, media, body string }{
		{"rules", "POST", policies, "application/json", policy},
		{"rules in YAML", "POST", policies, "application/yaml", policy},
		{"rules applied", "PATCH", policies + "/a?fieldManager=m", "application/apply-patch+yaml", rules(applied)},
		{"finalizers", "POST", configmaps, "application/json", `{"metadata":{"name":"a","finalizers":[` + many(n, `"a/b"`) + `]}}`},
		{"objects", "POST", opens, "application/json", open("[" + many(n, "{}") + "]")},
		{"objects in objects", "POST", opens, "application/json", open("[" + many(n, `{"":{}}`) + "]")},
		{"lists", "POST", opens, "application/json", open("[" + many(n, "[0]") + "]")},
		{"objects applied", "PATCH", opens + "/a?fieldManager=m", "application/apply-patch+yaml", open("[" + many(applied, "{}") + "]")},
		{"objects in blocks", "POST", opens, "application/yaml", "apiVersion: open.test/v1\nkind: Open\nmetadata: {name: a}\nspec:\n" + strings.Repeat("- a:\n", n)},
	} {
		if strings.Contains(c.path, "?") {
			c.path += "&dryRun=All"
		} else {
			c.path += "?dryRun=All"
		}
		runtime.GC()
		before := heap()
		done := make(chan apiservertest.Answer, 1)
		go func() { done <- s.Do(c.method, c.path, c.body, "Content-Type", c.media) }()
		var peak, charged int64
		for answered := false; !answered; {
			select {
			case a := <-done:
				answered = true
				must(t, a, http.StatusCreated)
			case <-time.After(100 * time.Microsecond): // a sample
			}
			peak, charged = max(peak, heap()-before), max(charged, s.API.MemoryHeld())
		}
		t.Logf("%s: %d KiB of %d", c.what, peak>>10, charged>>10)
		if charged == 0 || peak > charged*3/2+slack {
			t.Errorf("%s: %d KiB on the heap, %d charged", c.what, peak>>10, charged>>10)
		}
	}
}
