package endpoints

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/patch"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/warning"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// benchTypes is the table of types, the entry of ConfigMaps, and so many of them as the cache has them.
func benchTypes(b *testing.B, n int) (*resources.Types, *resources.Resource, []*storage.Object) {
	b.Helper()
	types := resources.NewTable(resources.Builtin()...)
	res := types.Lookup("", "v1", "configmaps")
	d := storage.Decoder{Root: storage.DefaultRoot, Fields: types.SelectableFields}
	objs := make([]*storage.Object, n)
	for i := range objs {
		objs[i] = d.Decode(benchRecord(i))
		if objs[i].Err != nil {
			b.Fatal(objs[i].Err)
		}
	}
	return types, res, objs
}

func benchRecord(i int) storage.Record {
	return storage.Record{Key: fmt.Sprintf("/registry/configmaps/default/%06d", i), ModRevision: int64(i + 2),
		Value: fmt.Appendf(nil,
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"%06d","namespace":"default","uid":"4d0a3c5e-9b0f-4a57-8a0e-0f8c2a7a5d11","creationTimestamp":"2024-05-01T10:00:00Z","labels":{"one":"in%d"},"managedFields":[{"manager":"bench","operation":"Update","apiVersion":"v1","time":"2024-05-01T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}},"f:metadata":{"f:labels":{".":{},"f:one":{}}}}}]},"data":{"k":%q}}`,
			i, i%100, strings.Repeat("x", 1024))}
}

// BenchmarkList renders 1,000 objects of 1.4 KiB.
func BenchmarkList(b *testing.B) {
	_, res, objs := benchTypes(b, 1000)
	for _, c := range []struct {
		name string
		f    render.Format
	}{
		{"json", render.Format{Media: codec.MediaJSON}},
		{"table", render.Format{Media: codec.MediaJSON, As: "Table", Version: "v1"}},
		{"metadata", render.Format{Media: codec.MediaJSON, As: "PartialObjectMetadataList", Version: "v1"}},
		{"protobuf", render.Format{Media: codec.MediaProtobuf}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			x := &render.Rendering{Resource: res, Format: c.f, Now: time.Now(), Skip: func(o *storage.Object, err error) {
				b.Fatal(o.Key, err)
			}}
			for b.Loop() {
				if list, _ := x.Stream(objs, metav1.ListMeta{}); list != nil { // sent while it is encoded
					if err := list.Write(io.Discard); err != nil {
						b.Fatal(err)
					}
				} else if _, err := x.List(objs, metav1.ListMeta{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSelect asks each of 1,000 objects whether it is selected.
func BenchmarkSelect(b *testing.B) {
	_, res, objs := benchTypes(b, 1000)
	equal, err := labels.Parse("one=in7")
	if err != nil {
		b.Fatal(err)
	}
	for name, sel := range map[string]registry.Selection{
		"all":   {Resource: res},
		"label": {Resource: res, Labels: equal},
		"name":  {Resource: res, Fields: []registry.Requirement{{Index: registry.NameField, Value: "000007"}}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, o := range objs {
					sel.Matches(o)
				}
			}
		})
	}
}

// discard takes the frames of a watch.
type discard struct{}

func (discard) write([]byte) error { return nil }
func (discard) flush() error       { return nil }

// BenchmarkFrame sends 1,000 events to one more watcher, and to the first one.
func BenchmarkFrame(b *testing.B) {
	types, res, objs := benchTypes(b, 1000)
	a := &API{lister: lister{registry: &registry.Registry{Types: types}}, metrics: metrics.New(prometheus.NewRegistry(), types)}
	fresh := func() []*cache.Event {
		events := make([]*cache.Event, len(objs))
		for i, o := range objs {
			events[i] = &cache.Event{Type: cache.Added, Object: o, Revision: o.Revision}
		}
		return events
	}
	for _, name := range []string{"first", "further"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			x := &render.Rendering{Resource: res, Format: render.Format{Media: codec.MediaJSON}}
			w := &watch{
				req: &request{Operation: registry.Operation{Target: registry.Target{Resource: res}}}, api: a, rendering: x,
				sel: registry.Selection{Resource: res, Prefix: "/registry/configmaps/"}, out: discard{},
			}
			w.share()
			events := fresh()
			for b.Loop() {
				if name == "first" {
					events = fresh()
				}
				if sent, err := w.send(events); err != nil || sent != len(events) {
					b.Fatal(sent, err)
				}
			}
		})
	}
}

// BenchmarkPatch is what a merge patch costs but for etcd: decoding, merging, the managers of fields, rules.
func BenchmarkPatch(b *testing.B) {
	types, res, objs := benchTypes(b, 1)
	managers := fieldmanager.New(fieldmanager.Config{Types: types})
	o := &registry.Operation{
		Target: registry.Target{Resource: res, Namespace: "default", Name: objs[0].Meta.Name}, Warn: &warning.List{},
		Manager: "bench",
	}
	p := patch.Patch{
		Kind: "application/merge-patch+json", Bytes: []byte(`{"data":{"k":"w"}}`), Strictness: metav1.FieldValidationWarn,
		Warn: func(string) {},
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := patchOnce(o, p, managers, objs[0]); err != nil {
			b.Fatal(err)
		}
	}
}

func patchOnce(o *registry.Operation, p patch.Patch, managers *fieldmanager.Managers, cur *storage.Object) error {
	old, err := o.Decode(cur)
	if err != nil {
		return err
	}
	obj, err := o.Patched(old.DeepCopyObject().(registry.Object), p)
	if err != nil {
		return err
	}
	managers.Update(o.Resource, "", old, obj, o.Manager)
	registry.PrepareUpdate(o.Resource, nil, obj, old)
	registry.Inherit(obj, old)
	if err := o.ValidateChange(obj, old); err != nil {
		return err
	}
	fieldmanager.KeepTimes(obj, old)
	_, err = codec.EncodeStored(o.Resource, obj)
	return err
}
