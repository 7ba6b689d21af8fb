package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// head is the beginning of an object: its kind, apiVersion and name.
const head = `{"kind":%q,"apiVersion":%q,"metadata":{"name":"n%04d","namespace":"default","labels":{"rev":"%d"}},`

// keptKinds are a kind in its stored version, one that is converted, and one whose objects are longer than a run.
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
	for o := range snap.Ascend("", "") {
		objs = append(objs, o)
	}
	return objs
}

// TestCachedListsEqualEncodedOnes: a list of cached encodings has the bytes of one that is encoded as a whole: when the
// encodings are cached first, when they are used again, and when some objects have changed (guarantees 2 and 5).
func TestCachedListsEqualEncodedOnes(t *testing.T) {
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
		for _, as := range []string{"", "PartialObjectMetadataList"} {
			for _, media := range []string{codec.MediaProtobuf, codec.MediaJSON} {
				x := &Rendering{Resource: res, Format: Format{Media: media, As: as, Version: "v1"}, Now: time.Now(),
					Cache: s.cache}
				for range 2 {
					sameLists(t, x, s.objects())
				}
			}
		}
		s.apply(false, 303, s.event(7, 301), s.event(9000, 302),
			storage.Event{Key: s.event(100, 0).Key, Revision: 303})
		for _, objs := range [][]*storage.Object{s.objects(), s.objects()[10:200], s.objects()} {
			for _, media := range []string{codec.MediaProtobuf, codec.MediaJSON} {
				x := &Rendering{Resource: res, Format: Format{Media: media}, Cache: s.cache}
				sameLists(t, x, objs)
			}
		}
	}
}

// sameLists compares a list that is written in pieces with one that is encoded as a whole.
func sameLists(t *testing.T, x *Rendering, objs []*storage.Object) {
	t.Helper()
	m := metav1.ListMeta{ResourceVersion: "7"}
	bare := &Rendering{Resource: x.Resource, Format: x.Format}
	want, err := bare.List(objs, m)
	if err != nil {
		t.Fatal(err)
	}
	l, err := x.Stream(objs, m)
	if err != nil {
		t.Fatal(err)
	}
	if l == nil { // it is encoded as a whole
		return
	}
	var got bytes.Buffer
	if err := l.Write(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) || l.Size() != len(want) {
		t.Errorf("%s %s: %d bytes, size %d; want %d", x.Resource.Plural, x.Format.Media, got.Len(), l.Size(), len(want))
	}
}

// TestKeptUnreadable: an object that can't be decoded is omitted each time.
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
			Skip: func(*storage.Object, error) { skipped++ }}
		l, err := x.Stream(s.objects(), metav1.ListMeta{})
		if err != nil {
			t.Fatal(err)
		}
		var n bytes.Buffer
		if err := l.Write(&n); err != nil || n.Len() != l.Size() || skipped != 1 {
			t.Errorf("%d bytes, size %d, %d objects were skipped, %v", n.Len(), l.Size(), skipped, err)
		}
	}
}

// TestKeptEvents: events and single objects have the same bytes as the library's encoding.
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

// TestResourcesOfCollectionShareNoEncoding: with any served versions, events have different keys, and only one resource
// of a collection caches the encodings of objects.
func TestResourcesOfCollectionShareNoEncoding(t *testing.T) {
	all, _, err := resources.ParseServing([]string{"api/all=true"})
	if err != nil {
		t.Fatal(err)
	}
	c := cache.New(cache.Options{})
	for _, serving := range []*resources.Serving{nil, all} {
		keys, keeping := map[string]string{}, map[string]string{}
		for _, r := range resources.Every(serving) {
			if r.Collection == "" {
				continue
			}
			x := &Rendering{Resource: r, Format: Format{Media: codec.MediaProtobuf}, Cache: c}
			name, key := r.GroupVersion().String()+"/"+r.Plural, r.Collection+" "+x.Key()
			if other := keys[key]; other != "" {
				t.Errorf("events of %s and %s have the key %s", name, other, key)
			}
			keys[key] = name
			if other := keeping[r.Collection]; other != "" && x.cachesEncoding() {
				t.Errorf("%s and %s keep encodings of the same objects", name, other)
			}
			if x.cachesEncoding() {
				keeping[r.Collection] = name
			}
		}
		if len(keys) == len(keeping) {
			t.Error("no two resources have a collection")
		}
	}
}
