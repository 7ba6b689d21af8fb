package flowcontrol

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// TestDumpShowsRequestsInTheirQueues: a request is in the table while it is served, and not afterwards.
func TestDumpShowsRequestsInTheirQueues(t *testing.T) {
	c := New(1, time.Minute, nil)
	live := NewLive(c, cache.New(cache.Options{Decoder: storage.Decoder{Root: root}}), slog.New(slog.DiscardHandler))
	table := func(name string) string {
		t.Helper()
		var b strings.Builder
		if err := live.Dump(&b, name); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	c.Handle(t.Context(), Request{get(user("u")), none}, func(Class) {}, func() {
		if got := table("dump_requests"); !strings.Contains(got, "\ncatch-all,") || strings.Count(got, "\n") != 2 {
			t.Errorf("while the request is served:\n%s", got)
		}
		got := table("dump_priority_levels")
		if !strings.Contains(strings.Join(strings.Fields(got), ""), "catch-all,0,false,false,0,1,0,0,0,0") {
			t.Errorf("while the request is served:\n%s", got)
		}
	})
	if got := table("dump_requests"); strings.Count(got, "\n") != 1 {
		t.Errorf("after the request:\n%s", got)
	}
	if err := live.Dump(io.Discard, "dump"); err == nil {
		t.Error("there is a table without a name")
	}
}
