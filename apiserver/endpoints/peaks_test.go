//go:build !race

package endpoints_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestPeaks: requests with many small values, in bodies of each type, need no more memory than is counted for them,
// apart from garbage that Go has not collected yet. (The race detector has memory of its own.)
func TestPeaks(t *testing.T) {
	const n, applied = 50_000, 10_000 // as many as an apply document may have
	const slack = 8 << 20
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
		{
			"finalizers", "POST", configmaps, "application/json",
			`{"metadata":{"name":"a","finalizers":[` + many(n, `"a/b"`) + `]}}`,
		},
		{"objects", "POST", opens, "application/json", open("[" + many(n, "{}") + "]")},
		{"objects in objects", "POST", opens, "application/json", open("[" + many(n, `{"":{}}`) + "]")},
		{"lists", "POST", opens, "application/json", open("[" + many(n, "[0]") + "]")},
		{
			"objects applied", "PATCH", opens + "/a?fieldManager=m", "application/apply-patch+yaml",
			open("[" + many(applied, "{}") + "]"),
		},
		{
			"objects in blocks", "POST", opens, "application/yaml",
			"apiVersion: open.test/v1\nkind: Open\nmetadata: {name: a}\nspec:\n" + strings.Repeat("- a:\n", n),
		},
	} {
		if strings.Contains(c.path, "?") {
			c.path += "&dryRun=All"
		} else {
			c.path += "?dryRun=All"
		}
		var peak, charged int64
		for range 50 { // on a busy machine the samples may be too late for a request
			a, p, held := sampled(s, func() apiservertest.Answer {
				return s.Do(c.method, c.path, c.body, "Content-Type", c.media)
			})
			must(t, a, http.StatusCreated)
			if peak, charged = max(peak, p), max(charged, held); charged > 0 {
				break
			}
		}
		t.Logf("%s: %d KiB of %d", c.what, peak>>10, charged>>10)
		if charged == 0 || peak > charged*3/2+slack {
			t.Errorf("%s: %d KiB on the heap, %d charged", c.what, peak>>10, charged>>10)
		}
	}
}

// sampled returns the most memory that samples show during a request, on the heap and counted.
func sampled(
	s *apiservertest.Server, request func() apiservertest.Answer,
) (a apiservertest.Answer, peak, charged int64) {
	runtime.GC()
	before := heap()
	done := make(chan apiservertest.Answer, 1)
	go func() { done <- request() }()
	for answered := false; !answered; {
		select {
		case a = <-done:
			answered = true
		case <-time.After(100 * time.Microsecond): // a sample
		}
		peak, charged = max(peak, heap()-before), max(charged, s.API.Limits().Memory().Held)
	}
	return a, peak, charged
}

// TestOpenWatches: open watches need no more memory than is counted, whatever the request contains.
func TestOpenWatches(t *testing.T) {
	const n = 30
	for _, c := range []struct{ what, query, header string }{
		{"no selector", "", ""},
		{"labels that must not be there", "&labelSelector=" + terms(8000, "!k%d"), ""},
		{"labels with values", "&labelSelector=" + terms(5000, "k%d%%3Dv"), ""},
		{"a label of many values", "&labelSelector=k+notin+(" + terms(8000, "v%d") + ")", ""},
		{"names", "&fieldSelector=" + terms(3000, "metadata.name!=n%d"), ""},
		{"headers", "", "X-Long: " + strings.Repeat("x", 400<<10)},
		{"many headers", "", terms(20_000, "X-%d: \n") + "X:"},
		{"a long query", "&x=" + strings.Repeat("x", 400<<10), ""},
		{"a long query that is escaped", "&x=" + strings.Repeat("%41", 130<<10), ""},
		{"many parameters", terms(9000, "&x%d"), ""},
	} {
		s := apiservertest.Start(t, nil)
		unread(t, s, "first", configmaps+"?watch=1") // with what is allocated once
		runtime.GC()
		before := resident()
		charged := metric(t, s, unreadBytes)
		for range n {
			unread(
				t, s, "flood", configmaps+"?watch=1"+strings.ReplaceAll(c.query, ",&", "&"),
				strings.ReplaceAll(c.header, "\n,", "\n"),
			)
		}
		charged = metric(t, s, unreadBytes) - charged
		runtime.GC()
		took := resident() - before
		t.Logf("%s: %d KiB a watch of %d", c.what, took/n>>10, int(charged)/n>>10)
		if took > int64(charged) {
			t.Errorf("%s: a watch takes %d KiB, %d are counted", c.what, took/n>>10, int(charged)/n>>10)
		}
	}
}

// terms are numbered, with commas between them.
func terms(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

// resident is the memory of objects and stacks.
func resident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
