package cache

import (
	"iter"
	"sort"
	"strings"
	"sync"

	"github.com/tidwall/btree"

	"github.com/kubecascade/kubecascade/storage"
)

// degree is the degree of the B-trees; a node has at most 2*degree entries.
const degree = 16

// tree has objects in byte order of their keys. A tree that a reader can see is never changed. Changes are made to a
// clone, which shares all unchanged nodes.
type tree struct {
	mu      sync.Mutex // held while the tree is cloned, by Apply and by readers of past revisions
	entries *btree.BTreeG[entry]
}

// entry is an object by its key, so that a search needs no object.
type entry struct {
	key    string
	object *storage.Object
}

func newTree() *tree {
	less := func(a, b entry) bool { return a.key < b.key }
	return &tree{entries: btree.NewBTreeGOptions(less, btree.Options{Degree: degree, NoLocks: true})}
}

// clone returns a tree that may be changed.
func (t *tree) clone() *tree {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &tree{entries: t.entries.Copy()}
}

// put puts an object, or removes its key if o is nil.
func (t *tree) put(key string, o *storage.Object) {
	if o == nil {
		t.entries.Delete(entry{key: key})
	} else {
		t.entries.Set(entry{key, o})
	}
}

// get returns the object stored under key, or nil.
func (t *tree) get(key string) *storage.Object {
	e, _ := t.entries.Get(entry{key: key})
	return e.object
}

func (t *tree) length() int { return t.entries.Len() }

// scan yields the objects with keys >= from with the prefix, in order.
func (t *tree) scan(prefix, from string) iter.Seq[*storage.Object] {
	return func(yield func(*storage.Object) bool) {
		t.entries.Ascend(entry{key: max(prefix, from)}, func(e entry) bool {
			return strings.HasPrefix(e.key, prefix) && yield(e.object)
		})
	}
}

// count returns the number of objects that scan would yield.
func (t *tree) count(prefix, from string) int {
	key := func(i int) string {
		e, _ := t.entries.GetAt(i)
		return e.key
	}
	first := sort.Search(t.length(), func(i int) bool { return key(i) >= max(prefix, from) })
	return sort.Search(t.length()-first, func(i int) bool { return !strings.HasPrefix(key(first+i), prefix) })
}
