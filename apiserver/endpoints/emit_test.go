package endpoints

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/gzipped"
	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// watching returns a function that opens a watch of ConfigMaps which is compressed or not, in a form; and so many
// events for them.
func watching(t *testing.T, n int) (open func(compressed bool, as string) *watch, events []*cache.Event) {
	t.Helper()
	types := resources.NewTable(resources.Builtin()...)
	res := types.Lookup("", "v1", "configmaps")
	d := storage.Decoder{Root: storage.DefaultRoot, Fields: types.SelectableFields}
	for i := range n {
		obj := d.Decode(storage.Record{Key: fmt.Sprintf("/registry/configmaps/default/m%d", i), ModRevision: int64(i + 2),
			Value: fmt.Appendf(nil, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m%d"}}`, i)})
		if obj.Err != nil {
			t.Fatal(obj.Err)
		}
		events = append(events, &cache.Event{Type: cache.Added, Object: obj, Revision: obj.Revision})
	}
	a := &API{lister: lister{&registry.Registry{Types: types}}, metrics: metrics.New(prometheus.NewRegistry(), types)}
	return func(compressed bool, as string) *watch {
		out := &chunks{to: httptest.NewRecorder(), begun: true}
		w := &watch{
			req: &request{Operation: registry.Operation{Target: registry.Target{Resource: res}}}, api: a, out: out,
			rendering: &render.Rendering{Resource: res, Format: render.Format{Media: codec.MediaJSON, As: as, Version: "v1"}},
			sel:       registry.Selection{Resource: res, Prefix: "/registry/configmaps/"},
		}
		w.watching, _ = a.watches.counts.join(res.Collection)
		if compressed {
			out.compressAll(gzipped.Far)
			w.packing = out
		}
		w.share()
		return w
	}, events
}

// fragments sends a watch events, and returns how many fragments it has compressed them to.
func (w *watch) fragments(t *testing.T, events []*cache.Event) int {
	t.Helper()
	to := w.packing.to.(*httptest.ResponseRecorder)
	to.Body.Reset()
	if sent, err := w.send(events); sent != len(events) || err != nil {
		t.Fatalf("%d of %d events: %v", sent, len(events), err)
	}
	if err := w.out.flush(); err != nil {
		t.Fatal(err)
	}
	return bytes.Count(to.Body.Bytes(), []byte{0, 0, 0xff, 0xff}) // an empty block ends each (zlib: Z_SYNC_FLUSH)
}

// TestBurstCompressed: the events of a burst are compressed together for a watch beside which no other is compressed in
// the same form, and each by itself, once, for those that share them.
func TestBurstCompressed(t *testing.T) {
	const n = 10
	for _, c := range []struct {
		name   string
		others func(open func(compressed bool, as string) *watch)
		want   int
	}{
		{"alone", func(func(bool, string) *watch) {}, 1},
		{"beside one that is not compressed", func(open func(bool, string) *watch) { open(false, "") }, 1},
		{"beside one in another form", func(open func(bool, string) *watch) { open(true, "PartialObjectMetadata") }, 1},
		{"beside one as a Table, which is not shared", func(open func(bool, string) *watch) { open(true, "Table") }, 1},
		{"beside one that has ended", func(open func(bool, string) *watch) { open(true, "").unshare() }, 1},
		{"beside one that has changed its form", func(open func(bool, string) *watch) {
			w := open(true, "")
			w.rendering.Format.As = "PartialObjectMetadata"
			w.share()
		}, 1},
		{"beside one in the same form", func(open func(bool, string) *watch) { open(true, "") }, n},
	} {
		open, events := watching(t, n)
		c.others(open)
		w := open(true, "")
		if got := w.fragments(t, events); got != c.want {
			t.Errorf("%s: %d fragments, want %d", c.name, got, c.want)
		}
		for _, e := range events {
			if _, made := e.Made(w.keys["ADDED"].packed); made != (c.want > 1) {
				t.Errorf("%s: the compressed event is shared: %v", c.name, made)
				break
			}
		}
	}
}

// TestSharingLeft: no count of compressed watches is left after they have ended, whatever forms they had.
func TestSharingLeft(t *testing.T) {
	open, _ := watching(t, 0)
	a, b, table := open(true, ""), open(true, ""), open(true, "Table")
	counts := a.api.watches.compressed.counts
	if a.sharing != b.sharing || a.sharing.Load() != 2 || table.sharing != nil || len(counts) != 1 {
		t.Errorf("%d share the form, and there are %d forms", a.sharing.Load(), len(counts))
	}
	a.rendering.Format.As = "PartialObjectMetadata"
	a.share()
	if a.sharing.Load() != 1 || b.sharing.Load() != 1 || len(counts) != 2 {
		t.Errorf("%d and %d after a change of the form, %d forms", a.sharing.Load(), b.sharing.Load(), len(counts))
	}
	a.rendering.Format.As = "Table"
	for _, w := range []*watch{a, b, table} {
		w.share()
		w.unshare()
	}
	if len(counts) != 0 {
		t.Errorf("%d forms are left", len(counts))
	}
}
