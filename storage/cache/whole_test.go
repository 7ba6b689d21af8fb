package cache

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubecascade/kubecascade/storage"
)

// TestObjects: snapshots with the same objects share one slice for each prefix, those of another state have another
// one, and each is what Ascend yields (guarantee 10).
func TestObjects(t *testing.T) {
	const all, one = "/registry/configmaps/", "/registry/configmaps/one/"
	c := New(Options{Decoder: storage.Decoder{Root: "/registry"}})
	put := func(key string, rev int64) storage.Event {
		name := key[strings.LastIndex(key, "/")+1:]
		return storage.Event{Key: key, Revision: rev, Value: fmt.Appendf(nil, `{"metadata":{"name":%q}}`, name)}
	}
	apply := func(reset bool, rev int64, events ...storage.Event) {
		t.Helper()
		if err := c.Apply(storage.Batch{Reset: reset, Revision: rev, Events: events}); err != nil {
			t.Fatal(err)
		}
	}
	objects := func(rev int64, prefix string) []*storage.Object {
		t.Helper()
		s, err := c.Snapshot("configmaps", rev)
		if err != nil {
			t.Fatal(err)
		}
		var want []*storage.Object
		s.Ascend(prefix, "", func(o *storage.Object) bool { want = append(want, o); return true })
		got := s.Objects(prefix)
		if !slices.Equal(got, want) || cap(got) != len(got) {
			t.Fatalf("at %d below %s: %d objects of %d, capacity %d", rev, prefix, len(got), len(want), cap(got))
		}
		return got
	}
	same := func(x, y []*storage.Object) bool { return &x[0] == &y[0] }
	var begin []storage.Event
	for _, namespace := range []string{"one", "two"} {
		for i := range wholeFrom {
			begin = append(begin, put(fmt.Sprintf("%s%s/%05d", all, namespace, i), 5))
		}
	}
	apply(true, 5, begin...)
	whole, part := objects(0, all), objects(0, one)
	if !same(whole, objects(5, all)) || !same(part, objects(0, one)) {
		t.Error("two snapshots of a state don't share their objects")
	}
	if few := objects(0, one+"000"); same(few, objects(0, one+"000")) {
		t.Error("a short slice is kept")
	}
	apply(false, 6, put("/registry/pods/one/a", 6))
	if !same(whole, objects(0, all)) {
		t.Error("after a write to another collection the objects are not shared")
	}
	apply(false, 7, put(one+"new", 7))
	next := objects(0, all)
	if same(whole, next) || len(next) != len(whole)+1 {
		t.Error("after a write the objects are those before")
	}
	if past := objects(6, all); !slices.Equal(past, whole) || same(past, whole) || !same(next, objects(0, all)) {
		t.Error("a past state is not as it was, or the newest state's objects went")
	}
	for i := range mostWhole { // other prefixes displace it
		objects(0, all[:len(all)-1-i])
	}
	if same(next, objects(0, all)) {
		t.Errorf("more than %d prefixes are kept", mostWhole)
	}
	var readers sync.WaitGroup
	results := make([][]*storage.Object, 8)
	s, err := c.Snapshot("configmaps", 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range results {
		readers.Go(func() { results[i] = s.Objects(one) })
	}
	readers.Wait()
	for _, r := range results {
		if !same(r, results[0]) {
			t.Error("readers at the same time have slices of their own")
		}
	}
}
