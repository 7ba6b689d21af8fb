package render

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/gzipped"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// head is the beginning of an object: its kind, apiVersion and name.
const head = `{"kind":%q,"apiVersion":%q,"metadata":{"name":"n%04d","namespace":"default","labels":{"rev":"%d"}},`

// keptKinds are a kind as it is stored, one that is converted, and one whose objects are longer than a run.
var keptKinds = []struct{ group, version, plural, kind, apiVersion, rest string }{
	{"", "v1", "configmaps", "ConfigMap", "v1", `"data":{"k":"` + strings.Repeat("v", 900) + `"}`},
	{"", "v1", "secrets", "Secret", "v1", `"data":{"k":"` + strings.Repeat("dmFs", 10_000) + `"}`},
	{"autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "autoscaling/v2",
		`"spec":{"scaleTargetRef":{"kind":"D","name":"` + strings.Repeat("d", 900) + `"},"maxReplicas":3}`},
}

// keptState is a cache with n objects of a kind.
type keptState struct {
	*testing.T
	cache      *cache.Cache
	collection string
	event      func(i int, rev int64) storage.Event
}

func (s *keptState) apply(reset bool, rev int64, events ...storage.Event) {
	s.Helper()
	if err := s.cache.Apply(storage.Batch{Reset: reset, Revision: rev, Events: events}); err != nil {
		s.Fatal(err)
	}
}

func (s *keptState) objects() (objs []*storage.Object) {
	s.Helper()
	snap, err := s.cache.Snapshot(s.collection, 0)
	if err != nil {
		s.Fatal(err)
	}
	snap.Ascend("", "", func(o *storage.Object) bool {
		objs = append(objs, o)
		return true
	})
	return objs
}

// TestKeptLists: a list of encodings and fragments that are kept has the same bytes as one that is made as a whole,
// when they are made, when they are there, and when some of the objects have changed (guarantees 2 and 5).
func TestKeptLists(t *testing.T) {
	types := resources.NewTable(resources.Every(nil)...)
	for _, k := range keptKinds {
		res := types.Lookup(k.group, k.version, k.plural)
		s := &keptState{T: t, collection: res.Collection,
			cache: cache.New(cache.Options{Decoder: storage.Decoder{Root: "/registry", Fields: types.SelectableFields}}),
			event: func(i int, rev int64) storage.Event {
				return storage.Event{Key: fmt.Sprintf("/registry/%s/default/n%04d", res.Collection, i), Revision: rev,
					Value: fmt.Appendf(nil, head+"%s}", k.kind, k.apiVersion, i, rev, k.rest)}
			}}
		var all []storage.Event
		for i := range 300 {
			all = append(all, s.event(i, int64(i+1)))
		}
		s.apply(true, 300, all...)
		fragments := gzipped.NewCache(1 << 20)
		for _, as := range []string{"", "PartialObjectMetadataList"} {
			for _, media := range []string{codec.MediaProtobuf, codec.MediaJSON} {
				x := &Rendering{Resource: res, Format: Format{Media: media, As: as, Version: "v1"}, Now: time.Now(),
					Cache: s.cache, Fragments: fragments}
				for range 2 {
					sameLists(t, x, s.objects())
				}
			}
		}
		s.apply(false, 303, s.event(7, 301), s.event(9000, 302),
			storage.Event{Key: s.event(100, 0).Key, Revision: 303})
		for _, objs := range [][]*storage.Object{s.objects(), s.objects()[10:200], s.objects()} {
			for _, media := range []string{codec.MediaProtobuf, codec.MediaJSON} {
				x := &Rendering{Resource: res, Format: Format{Media: media}, Cache: s.cache, Fragments: fragments}
				sameLists(t, x, objs)
			}
		}
	}
}

// sameLists compares a list in all ways in which it can be sent.
func sameLists(t *testing.T, x *Rendering, objs []*storage.Object) {
	t.Helper()
	m := metav1.ListMeta{ResourceVersion: "7"}
	bare := &Rendering{Resource: x.Resource, Format: x.Format}
	want, err := bare.List(objs, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, compressed := range []bool{false, true} {
		l, err := x.Stream(objs, m, compressed)
		if err != nil {
			t.Fatal(err)
		}
		if l == nil { // it is made as a whole
			continue
		}
		var out bytes.Buffer
		if compressed && l.Compresses() && l.Size() >= GzipFrom {
			err = l.Compress(&out)
		} else {
			err = l.Write(&out)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := out.Bytes()
		if compressed && l.Compresses() && l.Size() >= GzipFrom {
			z, err := gzip.NewReader(&out)
			if err != nil {
				t.Fatal(err)
			}
			if got, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) || l.Size() != len(want) {
			t.Errorf("%s %s, compressed %v: %d bytes, told as %d; want %d", x.Resource.Plural, x.Format.Media, compressed,
				len(got), l.Size(), len(want))
		}
	}
}

// TestNearLists: lists for clients on this host and for others share no fragments, and have the same content. Values
// that compress badly are as they are in the former.
func TestNearLists(t *testing.T) {
	res := resources.NewTable(resources.Every(nil)...).Lookup("", "v1", "configmaps")
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	value := make([]byte, 1<<10)
	s := &keptState{T: t, collection: res.Collection,
		cache: cache.New(cache.Options{Decoder: storage.Decoder{Root: "/registry"}})}
	var all []storage.Event
	for i := range 200 {
		for at := range value {
			value[at] = byte('a' + r.IntN(8))
		}
		key := fmt.Sprintf("/registry/configmaps/default/n%04d", i)
		all = append(all, storage.Event{Key: key, Revision: int64(i + 1),
			Value: fmt.Appendf(nil, head+`"data":{"k":%q}}`, "ConfigMap", "v1", i, i+1, value)})
	}
	s.apply(true, 200, all...)
	fragments := gzipped.NewCache(4 << 20)
	for _, media := range []string{codec.MediaProtobuf, codec.MediaJSON} {
		for _, reach := range []gzipped.Reach{gzipped.Far, gzipped.Near, gzipped.Far, gzipped.Near} {
			x := &Rendering{Resource: res, Format: Format{Media: media}, Cache: s.cache, Fragments: fragments,
				Reach: reach}
			sameLists(t, x, s.objects())
			l, err := x.Stream(s.objects(), metav1.ListMeta{}, true)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := l.Compress(&out); err != nil {
				t.Fatal(err)
			}
			if as := bytes.Contains(out.Bytes(), value); as != (reach == gzipped.Near) {
				t.Errorf("%s, reach %d: the last value is sent as it is: %v", media, reach, as)
			}
		}
	}
}

// TestCut: an object that is added, changed or removed changes the runs near it alone, also among objects that one
// write has left, which have the same revision, and at regular distances of revisions.
func TestCut(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	const n, changes = 1500, 12
	runsOf := func(objs []*storage.Object) map[string]int {
		sizes := map[string]int{}
		for _, run := range (&Rendering{Format: Format{Media: codec.MediaProtobuf}}).cut(objs, true) {
			id, size := "", 0
			for _, o := range run.objs {
				id += fmt.Sprintf("%s@%d;", o.Key, o.Revision)
				size += len(o.JSON)
			}
			sizes[id] = size
		}
		return sizes
	}
	for _, size := range []int{400, 2000, 12_000} {
		data := make([]byte, size)
		for _, distance := range []int64{0, 1, 8, 32, 100} {
			var objs []*storage.Object
			for i := range n {
				objs = append(objs, &storage.Object{Key: fmt.Sprintf("/registry/pods/default/n%05d", i),
					Revision: 1_234_567 + int64(i)*distance, JSON: data})
			}
			before, sum := runsOf(objs), 0
			for i := range changes {
				at := r.IntN(n)
				o := &storage.Object{Key: objs[at].Key, Revision: 1<<40 + int64(i), JSON: data}
				next := slices.Clone(objs)
				switch i % 3 {
				case 0:
					next[at] = o
				case 1:
					o.Key += "x"
					next = slices.Insert(next, at+1, o)
				default:
					next = slices.Delete(next, at, at+1)
				}
				for id, size := range runsOf(next) {
					if _, same := before[id]; !same {
						sum += size
					}
				}
			}
			if mean := sum / changes; mean > 2*mostRun || len(before) < n*size/mostRun {
				t.Errorf("%d bytes, %d revisions apart: %d runs, a change changes %d bytes",
					size, distance, len(before), mean)
			}
		}
	}
}

// TestKeptOnce: what was encoded and compressed once is not made again, unless the object has changed.
func TestKeptOnce(t *testing.T) {
	res := resources.NewTable(resources.Every(nil)...).Lookup("", "v1", "configmaps")
	s := &keptState{T: t, collection: res.Collection,
		cache: cache.New(cache.Options{Decoder: storage.Decoder{Root: "/registry"}}),
		event: func(i int, rev int64) storage.Event {
			return storage.Event{Key: fmt.Sprintf("/registry/configmaps/default/n%04d", i), Revision: rev,
				Value: fmt.Appendf(nil, head+`"data":{"k":"%01000d"}}`, "ConfigMap", "v1", i, rev, rev)}
		}}
	var all []storage.Event
	for i := range 300 {
		all = append(all, s.event(i, int64(i+1)))
	}
	s.apply(true, 300, all...)
	x := &Rendering{Resource: res, Format: Format{Media: codec.MediaProtobuf}, Cache: s.cache,
		Fragments: gzipped.NewCache(1 << 20)}
	runs := func() (made, all int) {
		t.Helper()
		l, err := x.Stream(s.objects(), metav1.ListMeta{}, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.runs {
			if all++; r.fragment == nil {
				made++
			}
		}
		if err := l.Compress(io.Discard); err != nil {
			t.Fatal(err)
		}
		return made, all
	}
	if made, all := runs(); made != all || all < 3 {
		t.Errorf("at first %d of %d runs are compressed", made, all)
	}
	for _, o := range s.objects() {
		if s.cache.Encoding(o) == nil {
			t.Fatalf("%s keeps no encoding", o.Key)
		}
	}
	if cost := x.binaryCost(s.objects()); cost != 0 {
		t.Errorf("the memory of a list that is kept is %d", cost)
	}
	if made, all := runs(); made != 0 {
		t.Errorf("%d of %d runs are compressed again", made, all)
	}
	s.apply(false, 301, s.event(150, 301))
	if made, all := runs(); made < 1 || made > 2 {
		t.Errorf("%d of %d runs are compressed again after one change", made, all)
	}
}

// TestKeptUnreadable: an object that can't be decoded is left out each time, and no fragment without it is kept.
func TestKeptUnreadable(t *testing.T) {
	res := resources.NewTable(resources.Every(nil)...).Lookup("", "v1", "configmaps")
	s := &keptState{T: t, collection: res.Collection,
		cache: cache.New(cache.Options{Decoder: storage.Decoder{Root: "/registry"}})}
	var all []storage.Event
	for i := range 300 {
		data := fmt.Sprintf(`{"k":"%01000d"}`, i)
		if i == 100 {
			data = "7"
		}
		key := fmt.Sprintf("/registry/configmaps/default/n%04d", i)
		all = append(all, storage.Event{Key: key, Revision: int64(i + 1),
			Value: fmt.Appendf(nil, head+`"data":%s}`, "ConfigMap", "v1", i, i, data)})
	}
	s.apply(true, 300, all...)
	for range 2 {
		skipped := 0
		x := &Rendering{Resource: res, Format: Format{Media: codec.MediaProtobuf}, Cache: s.cache,
			Fragments: gzipped.NewCache(1 << 20), Skip: func(*storage.Object, error) { skipped++ }}
		l, err := x.Stream(s.objects(), metav1.ListMeta{}, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Compress(io.Discard); err != nil || skipped != 1 {
			t.Errorf("%d objects were skipped, %v", skipped, err)
		}
	}
}

// TestKeptEvents: events and single objects have the same bytes as if they were made by the library.
func TestKeptEvents(t *testing.T) {
	types := resources.NewTable(resources.Every(nil)...)
	for _, k := range keptKinds {
		res := types.Lookup(k.group, k.version, k.plural)
		c := cache.New(cache.Options{Decoder: storage.Decoder{Root: "/registry", Fields: types.SelectableFields}})
		key := "/registry/" + res.Collection + "/default/a"
		if err := c.Apply(storage.Batch{Reset: true, Revision: 3, Events: []storage.Event{{Key: key, Revision: 3,
			Value: fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":{"name":"a"},%s}`, k.kind, k.apiVersion, k.rest)},
		}}); err != nil {
			t.Fatal(err)
		}
		o, _ := c.Get(key)
		for _, media := range []string{codec.MediaProtobuf, codec.MediaJSON} {
			x := &Rendering{Resource: res, Format: Format{Media: media}, Cache: c}
			obj, err := x.served(o)
			if err != nil {
				t.Fatal(err)
			}
			want, err := x.Encode(obj)
			if err != nil {
				t.Fatal(err)
			}
			frame, err := x.Frame("ADDED", want)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got, err := x.Object(o)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s %s: %v\n%.200q, want\n%.200q", k.plural, media, err, got, want)
				}
				if got, err = x.Event("ADDED", o); err != nil || !bytes.Equal(got, frame) {
					t.Errorf("event of %s %s: %v\n%.200q, want\n%.200q", k.plural, media, err, got, frame)
				}
			}
		}
	}
}

// TestKeys: what is made for one resource is not sent for another of the same collection.
func TestKeys(t *testing.T) {
	types := resources.NewTable(resources.Every(nil)...)
	core, group := types.Lookup("", "v1", "events"), types.Lookup("events.k8s.io", "v1", "events")
	if core.Collection != group.Collection {
		t.Fatal("they have not the same collection")
	}
	if a, b := (&Rendering{Resource: core}).Key(), (&Rendering{Resource: group}).Key(); a == b {
		t.Errorf("events of both groups have the key %s", a)
	}
}
