package resources

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubecascade/kubecascade/storage"
)

// Types is the table at run time: the built-in entries and those of CustomResourceDefinitions. Goroutines may call its
// methods concurrently.
type Types struct {
	now atomic.Pointer[snapshot]
	// mu is held while a new snapshot is made from the current one. Readers don't need it.
	mu sync.Mutex
}

// Group is an API group. The core group has an empty name and is served below /api.
type Group struct {
	Name string
	// Versions in order of preference; Preferred is the first.
	Versions  []string
	Preferred string
}

// snapshot is one immutable state of the table.
type snapshot struct {
	all          []*Resource
	groups       []Group
	byPath       map[schema.GroupVersionResource]*Resource
	byKind       map[schema.GroupVersionKind]*Resource
	byCollection map[string]*Resource
	generation   uint64
	changed      chan struct{}
}

// NewTable returns a table of the entries.
func NewTable(entries ...*Resource) *Types {
	t := &Types{}
	m := map[schema.GroupVersionResource]*Resource{}
	for _, r := range entries {
		m[pathOf(r)] = r
	}
	t.now.Store(newSnapshot(m, 1))
	return t
}

func pathOf(r *Resource) schema.GroupVersionResource {
	return r.GroupVersion().WithResource(r.Plural)
}

// Lookup returns the entry for a path, or nil. The entry may be Off, because the server itself uses versions that are
// not served to clients.
func (t *Types) Lookup(group, version, plural string) *Resource {
	return t.now.Load().byPath[schema.GroupVersionResource{Group: group, Version: version, Resource: plural}]
}

// Kind returns the entry that serves objects of the kind to clients, or nil. A built-in entry precedes a custom one,
// which may have any kind.
func (t *Types) Kind(gvk schema.GroupVersionKind) *Resource { return t.now.Load().byKind[gvk] }

// Collection returns the entry for an etcd collection, or nil. A built-in entry precedes a custom one. If a collection
// has several entries, it returns the one with the stored version if that is served, and otherwise the one with the
// highest priority.
func (t *Types) Collection(collection string) *Resource {
	return t.now.Load().byCollection[collection]
}

// All returns every entry that is not Off, in the order of discovery: groups, then versions, then names. Callers must
// not change the slice.
func (t *Types) All() []*Resource { return t.now.Load().all }

// Groups returns the groups: the core group, then the others in the order of /apis. Callers must not change the slice.
func (t *Types) Groups() []Group { return t.now.Load().groups }

// Generation returns a number that increases with every change. Code that derives data from the table must call it
// before it reads the table.
func (t *Types) Generation() uint64 { return t.now.Load().generation }

// Changed returns a channel that is closed at the next change. Call it before you read the table.
func (t *Types) Changed() <-chan struct{} { return t.now.Load().changed }

// Add adds entries to the table, or replaces those with the same group, version and name. A custom resource never
// replaces a built-in one, because kube-apiserver's own resources precede it.
func (t *Types) Add(entries ...*Resource) { t.Replace(nil, entries) }

// Remove removes the entries with the same group, version and name from the table. A custom entry removes only custom
// ones.
func (t *Types) Remove(entries ...*Resource) { t.Replace(entries, nil) }

// Replace removes and adds entries in one change.
func (t *Types) Replace(remove, add []*Resource) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.now.Load()
	m := maps.Clone(old.byPath)
	for _, r := range remove {
		if there := m[pathOf(r)]; there != nil && there.Custom == r.Custom {
			delete(m, pathOf(r))
		}
	}
	for _, r := range add {
		if there := m[pathOf(r)]; there == nil || there.Custom || !r.Custom {
			m[pathOf(r)] = r
		}
	}
	if maps.Equal(m, old.byPath) {
		return
	}
	t.now.Store(newSnapshot(m, old.generation+1))
	close(old.changed)
}

func newSnapshot(m map[schema.GroupVersionResource]*Resource, generation uint64) *snapshot {
	s := &snapshot{
		byPath:       m,
		byKind:       make(map[schema.GroupVersionKind]*Resource, len(m)),
		byCollection: make(map[string]*Resource, len(m)),
		generation:   generation,
		changed:      make(chan struct{}),
	}
	entries := sorted(m)
	s.all = slices.DeleteFunc(slices.Clone(entries), func(r *Resource) bool { return r.Off })
	for _, r := range s.all {
		if old := s.byKind[r.GroupVersionKind()]; old == nil || old.Custom && !r.Custom {
			s.byKind[r.GroupVersionKind()] = r
		}
	}
	for _, r := range entries {
		if r.Collection == "" {
			continue
		}
		if old := s.byCollection[r.Collection]; old == nil || owns(r, old) {
			s.byCollection[r.Collection] = r
		}
	}
	for _, r := range s.all {
		s.addVersion(r.Group, r.Version)
	}
	return s
}

// owns reports whether r, rather than old, describes the stored objects of their collection. A built-in type precedes a
// custom one (AX pkg/controller/finalizer/crd_finalizer.go:OverlappingBuiltInResources). Then an entry that is served
// precedes one that is Off. Then the one with the stored version is first.
func owns(r, old *Resource) bool {
	if r.Custom != old.Custom {
		return old.Custom
	}
	if r.Off != old.Off {
		return old.Off
	}
	return r.Stored == r.GroupVersionKind()
}

// addVersion adds a group version. It is called in the order of discovery.
func (s *snapshot) addVersion(group, version string) {
	n := len(s.groups)
	if n == 0 || s.groups[n-1].Name != group {
		s.groups = append(s.groups, Group{Name: group, Versions: []string{version}, Preferred: version})
		return
	}
	if g := &s.groups[n-1]; g.Versions[len(g.Versions)-1] != version {
		g.Versions = append(g.Versions, version)
	}
}

func sorted(m map[schema.GroupVersionResource]*Resource) []*Resource {
	// A group has the position of its most important version.
	important := map[string]int32{}
	for gvr := range m {
		p, _ := Priority(gvr.GroupVersion())
		important[gvr.Group] = max(important[gvr.Group], p)
	}
	return slices.SortedFunc(maps.Values(m), func(a, b *Resource) int {
		_, av := Priority(a.GroupVersion())
		_, bv := Priority(b.GroupVersion())
		return cmp.Or(
			cmp.Compare(min(len(a.Group), 1), min(len(b.Group), 1)), // /api before /apis
			cmp.Compare(important[b.Group], important[a.Group]),
			cmp.Compare(a.Group, b.Group),
			cmp.Compare(bv, av),
			-version.CompareKubeAwareVersionStrings(a.Version, b.Version),
			cmp.Compare(a.Version, b.Version),
			cmp.Compare(a.Plural, b.Plural),
		)
	})
}

// GroupResource returns the resource whose objects are in a collection, even if it is not served.
func (t *Types) GroupResource(collection string) schema.GroupResource {
	if r := t.Collection(collection); r != nil {
		return r.GroupResource()
	}
	group, plural, ok := strings.Cut(collection, "/")
	if !ok {
		return schema.GroupResource{Resource: collection}
	}
	return schema.GroupResource{Group: group, Resource: plural}
}

// SelectableFields returns the paths of a collection's selectable fields (storage.Decoder). It returns none for custom
// resources: their fields may change and differ between versions, so they are read from objects when they are needed.
func (t *Types) SelectableFields(collection string) []storage.FieldPath {
	if r := t.Collection(collection); r != nil && !r.Custom {
		return r.Fields
	}
	return nil
}
