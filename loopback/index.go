package loopback

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Index is the index for the reads of workload controllers: dependents by their controller's uid, free objects by their
// namespace. All controllers share it. Readers bring it up to date: it has no goroutine, and costs nothing while it
// isn't read. The table of a resource is built when it is first read. Decoded objects are kept as long as they are
// current, pods only until the next garbage collection.
type Index struct {
	cache *cache.Cache
	types *resources.Types
	root  string

	// mu guards the fields below and what they refer to, except the entries' decoded objects.
	mu sync.RWMutex
	// watcher is the position of the built tables in the timeline; nil if they must be built again.
	watcher  *cache.Watcher
	revision int64
	tables   map[string]*table
}

// table is the index of one collection.
type table struct {
	resource   workload.Resource
	collection string
	// building is held while a reader, which has Index.mu only for reading, builds the table.
	building sync.Mutex
	// entries has the entries by key. It and the other maps are nil until the table is first read.
	entries    map[string]*entry
	namespaces map[string]*list
	free       map[string]*list
	controlled map[string]*list
	// mounting has the pods by the keys of the claims that they mount.
	mounting map[workload.Key]*list
	// unreadable has, by their keys, the objects that could not be decoded; not all objects were tried.
	unreadable map[string]*entry
	// all has the objects of all namespaces since the last change, if they were read. The scheduler reads all nodes for
	// each pod.
	all atomic.Pointer[[]workload.Object]
}

// list has entries, sorted by key.
type list = btree.Map[string, *entry]

// entry is one state of an object.
type entry struct {
	*storage.Object
	// decoded is the decoded object, until it changes. It is nil for a pod: there are many pods, and few are read again
	// after a garbage collection, so the storage.Object has it.
	decoded atomic.Pointer[workload.Object]
	// claims has the names of the claims that a pod mounts.
	claims []string
}

// NewIndex returns an index of all workload.Resources, except Sparse ones.
func NewIndex(c *cache.Cache, types *resources.Types, root string) *Index {
	x := &Index{cache: c, types: types, root: root, tables: map[string]*table{}}
	for _, r := range workload.Resources() {
		if r.Sparse {
			continue
		}
		collection := types.Lookup(r.Group, r.Version, r.Plural).Collection
		x.tables[collection] = &table{resource: r, collection: collection}
	}
	return x
}

// read calls f with a state that is at least as new as the cache's. It locks out other readers only if events must be
// applied: with many controllers and writes, each reader would wait for all others otherwise.
func (x *Index) read(ctx context.Context, f func(workload.Reader)) error {
	select {
	case <-x.cache.Ready():
	case <-ctx.Done():
		return ctx.Err()
	}
	rev := x.cache.Revision()
	x.mu.RLock()
	if !x.reached(rev) {
		x.mu.RUnlock()
		if err := x.catchUp(rev); err != nil {
			return err
		}
		x.mu.RLock()
	}
	defer x.mu.RUnlock()
	r := &reader{Index: x}
	f(r)
	return r.err
}

// reached reports whether the tables have the state of a revision.
func (x *Index) reached(rev int64) bool { return x.watcher != nil && x.revision >= rev }

// catchUp applies the events up to a revision.
func (x *Index) catchUp(rev int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for !x.reached(rev) {
		if x.watcher == nil {
			if err := x.watch(); err != nil {
				return err
			}
			rev = x.cache.Revision() // the tables may be as new
		}
		events, polled, err := x.watcher.Poll()
		switch {
		case errors.Is(err, cache.ErrExpired):
			x.watcher = nil
			continue
		case err != nil:
			return err
		}
		for _, e := range events {
			t := x.tables[e.Collection]
			switch {
			case t == nil || t.entries == nil:
			case e.Type == cache.Deleted:
				t.remove(e.Object.Key)
			default:
				t.insert(&entry{Object: e.Object})
			}
		}
		x.revision = polled
	}
	return nil
}

// watch starts a new watch of the timeline, and builds the tables again that have been read. Their state may be newer
// than the start of the watch: to apply its events again leads to the same state.
func (x *Index) watch() error {
	w, err := x.cache.Timeline(x.cache.Revision())
	if err != nil {
		return err
	}
	for _, t := range x.tables {
		if t.entries == nil {
			continue
		}
		if err := t.build(x.cache, 0); err != nil {
			return err
		}
	}
	x.watcher = w
	return nil
}

// build builds a table from the state at a revision; 0 means the newest. Decoded objects of the same states are kept.
func (t *table) build(c *cache.Cache, rev int64) error {
	state, err := c.Snapshot(t.collection, rev)
	if err != nil {
		return err
	}
	old := t.entries
	t.all.Store(nil)
	t.entries = map[string]*entry{}
	t.mounting, t.unreadable = map[workload.Key]*list{}, map[string]*entry{}
	t.namespaces, t.free, t.controlled = map[string]*list{}, map[string]*list{}, map[string]*list{}
	for o := range state.Ascend("", "") {
		e := old[o.Key]
		if e == nil || e.Object != o {
			e = &entry{Object: o}
		}
		t.insert(e)
	}
	return nil
}

// insert adds an object, or replaces it. Reads omit objects that can't be decoded. A pod that may mount claims is
// decoded here, so that it is known whether claims are in use.
func (t *table) insert(e *entry) {
	t.all.Store(nil)
	err := e.Err
	if t.resource == workload.Pods {
		e.claims, err = claimsOf(e)
	}
	had := t.entries[e.Key]
	if had == nil || err != nil || had.Meta.Controller() != e.Meta.Controller() || !slices.Equal(had.claims, e.claims) {
		t.remove(e.Key)
	}
	if err != nil {
		t.unreadable[e.Key] = e
		return
	}
	for _, claim := range e.claims {
		put(t.mounting, workload.Key{Namespace: e.Meta.Namespace, Name: claim}, e)
	}
	t.entries[e.Key] = e
	put(t.namespaces, e.Meta.Namespace, e)
	if uid := e.Meta.Controller(); uid != "" {
		put(t.controlled, uid, e)
	} else {
		put(t.free, e.Meta.Namespace, e)
	}
}

func (t *table) remove(key string) {
	t.all.Store(nil)
	delete(t.unreadable, key)
	e := t.entries[key]
	if e == nil {
		return
	}
	for _, claim := range e.claims {
		drop(t.mounting, workload.Key{Namespace: e.Meta.Namespace, Name: claim}, key)
	}
	delete(t.entries, key)
	drop(t.namespaces, e.Meta.Namespace, key)
	if uid := e.Meta.Controller(); uid != "" {
		drop(t.controlled, uid, key)
	} else {
		drop(t.free, e.Meta.Namespace, key)
	}
}

func put[K comparable](lists map[K]*list, at K, e *entry) {
	if lists[at] == nil {
		lists[at] = &list{}
	}
	lists[at].Set(e.Key, e)
}

func drop[K comparable](lists map[K]*list, at K, key string) {
	if lists[at].Delete(key); lists[at].Len() == 0 {
		delete(lists, at)
	}
}

// object decodes an entry of the resource, unless it is decoded.
func (e *entry) object(r workload.Resource) (workload.Object, error) {
	if o := e.decoded.Load(); o != nil {
		return *o, nil
	}
	if o, ok := e.Decoded().(workload.Object); ok && r == workload.Pods {
		return o, nil
	}
	next, err := decode(r, e.Object)
	switch {
	case err != nil:
		return nil, err
	case r == workload.Pods:
		e.SetDecoded(next)
	default:
		next.SetManagedFields(nil) // they are most of it, and controllers don't need them
		e.decoded.Store(&next)
	}
	return next, nil
}

func decode(r workload.Resource, stored *storage.Object) (workload.Object, error) {
	if stored.Err != nil {
		return nil, stored.Err
	}
	o := r.New()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(stored.JSON, o); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", stored.Key, err)
	}
	return o, nil
}

// mayMount reports whether a stored pod may mount claims. Most pods mount none and needn't be decoded for that.
func mayMount(pod *storage.Object) bool {
	return bytes.Contains(pod.JSON, []byte(`"persistentVolumeClaim"`)) ||
		bytes.Contains(pod.JSON, []byte(`"ephemeral"`))
}

// claimsOf returns the names of the claims that a pod mounts. It fails if the pod can't be decoded, and may mount some.
func claimsOf(pod *entry) ([]string, error) {
	if pod.Err != nil || !mayMount(pod.Object) {
		return nil, pod.Err
	}
	o, err := pod.object(workload.Pods)
	if err != nil {
		return nil, err
	}
	return workload.ClaimsOf(o.(*corev1.Pod)), nil
}

// objects decodes the entries of a list, which may be nil.
func (t *table) objects(l *list) []workload.Object {
	if l == nil {
		return nil
	}
	out := make([]workload.Object, 0, l.Len())
	l.Scan(func(_ string, e *entry) bool {
		if o, err := e.object(t.resource); err == nil {
			out = append(out, o)
		}
		return true
	})
	return out
}

// reader implements workload.Reader while the index is locked.
type reader struct {
	*Index
	// err is the reason why a table is missing.
	err error
}

// table returns the table of a resource. It builds a table that is read for the first time, at the revision of the
// others.
func (r *reader) table(res workload.Resource) *table {
	for _, t := range r.tables {
		if t.resource != res {
			continue
		}
		t.building.Lock()
		defer t.building.Unlock()
		if t.entries == nil {
			if err := t.build(r.cache, r.revision); err != nil {
				r.err = fmt.Errorf("indexing %v: %w", res, err)
			}
		}
		return t
	}
	panic(fmt.Sprintf("loopback: %v is not indexed", res))
}

// find returns an object's entry, nil if there is no object. An object of a Sparse resource is read from the cache.
func (r *reader) find(res workload.Resource, namespace, name string) *entry {
	if res.Sparse {
		collection := r.types.Lookup(res.Group, res.Version, res.Plural).Collection
		if o, _ := r.cache.Get(r.key(collection, namespace, name)); o != nil {
			return &entry{Object: o}
		}
		return nil
	}
	t := r.table(res)
	key := r.key(t.collection, namespace, name)
	return cmp.Or(t.entries[key], t.unreadable[key])
}

// Get implements workload.Reader.
func (r *reader) Get(res workload.Resource, namespace, name string) workload.Object {
	if e := r.find(res, namespace, name); e != nil {
		if o, err := e.object(res); err == nil {
			return o
		}
	}
	return nil
}

// Err implements workload.Reader.
func (r *reader) Err(res workload.Resource, namespace, name string) error {
	e := r.find(res, namespace, name)
	if e == nil {
		return nil
	}
	_, err := e.object(res)
	return err
}

func (x *Index) key(collection, namespace, name string) string {
	if namespace == "" {
		return x.root + "/" + collection + "/" + name
	}
	return x.root + "/" + collection + "/" + namespace + "/" + name
}

// PodsMounting implements workload.Reader.
func (r *reader) PodsMounting(claim workload.Key) (out []*corev1.Pod) {
	t := r.table(workload.Pods)
	for _, o := range t.objects(t.mounting[claim]) {
		out = append(out, o.(*corev1.Pod))
	}
	return out
}

// Readable implements workload.Reader.
func (r *reader) Readable(res workload.Resource, namespace string) bool {
	t := r.table(res)
	for _, e := range t.unreadable {
		if namespace == "" || namespace == e.Meta.Namespace {
			return false
		}
	}
	if res == workload.Pods { // insert has decoded those that count
		return true
	}
	for in, l := range t.namespaces {
		if (namespace == "" || namespace == in) && len(t.objects(l)) < l.Len() {
			return false
		}
	}
	return true
}

// Controlled implements workload.Reader.
func (r *reader) Controlled(res workload.Resource, owner types.UID) []workload.Object {
	t := r.table(res)
	return t.objects(t.controlled[string(owner)])
}

// Free implements workload.Reader.
func (r *reader) Free(res workload.Resource, namespace string) []workload.Object {
	t := r.table(res)
	return t.objects(t.free[namespace])
}

// All implements workload.Reader.
func (r *reader) All(res workload.Resource, namespace string) []workload.Object {
	t := r.table(res)
	if namespace != "" {
		return t.objects(t.namespaces[namespace])
	}
	if all := t.all.Load(); all != nil {
		return *all
	}
	var out []workload.Object
	for _, ns := range slices.Sorted(maps.Keys(t.namespaces)) {
		out = append(out, t.objects(t.namespaces[ns])...)
	}
	if res != workload.Pods { // they are not kept in memory
		out = slices.Clip(out)
		t.all.Store(&out)
	}
	return out
}
