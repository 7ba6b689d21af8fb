//go:build !race

package endpoints_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestOpenWatches: open watches need no more memory than is counted, for all kinds of requests.
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
