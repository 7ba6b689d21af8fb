package cache

import (
	"slices"
	"sync"

	"github.com/kubecascade/kubecascade/storage"
)

const (
	// wholeFrom is the number of objects from which snapshots share a slice of them: shorter ones cost little.
	wholeFrom = 1024
	// mostWhole is how many slices, each of another prefix, a version keeps.
	mostWhole = 4
)

// whole has the objects of one version of a collection in slices, for Objects. It ends with the version, whose objects
// it has, so it keeps no other objects in memory.
type whole struct {
	mu   sync.Mutex // guards kept, and is held while a slice is made: others want the same one
	kept []prefixed
}

// prefixed are the objects with a prefix.
type prefixed struct {
	prefix  string
	objects []*storage.Object
}

// Objects returns what Ascend yields from the beginning. Snapshots with the same objects share the slice, which must
// not be modified.
func (s *Snapshot) Objects(prefix string) []*storage.Object {
	n := s.Count(prefix, "")
	if s.whole == nil || n < wholeFrom {
		return s.collect(prefix, n)
	}
	w := s.whole
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.IndexFunc(w.kept, func(p prefixed) bool { return p.prefix == prefix }); i >= 0 {
		return w.kept[i].objects
	}
	if len(w.kept) >= mostWhole {
		w.kept = slices.Delete(w.kept, 0, 1)
	}
	objects := s.collect(prefix, n)
	w.kept = append(w.kept, prefixed{prefix, objects})
	return objects
}

// collect returns the n objects with a prefix; nil if there are none.
func (s *Snapshot) collect(prefix string, n int) []*storage.Object {
	if n == 0 {
		return nil
	}
	objects := make([]*storage.Object, 0, n)
	s.Ascend(prefix, "", func(o *storage.Object) bool {
		objects = append(objects, o)
		return true
	})
	return objects
}
