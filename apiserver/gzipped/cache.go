package gzipped

import (
	"container/list"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
	"unsafe"

	"github.com/kubecascade/kubecascade/storage"
)

// Cache holds fragments of lists.
type Cache struct {
	limit int64
	seed  maphash.Seed

	mu sync.Mutex // guards what follows
	// bytes is the memory of all entries, which are in used, the last used one first, and by the hash of their keys.
	bytes int64
	used  *list.List
	byKey map[uint64]*list.Element
}

// NewCache returns a cache of at most limit bytes.
func NewCache(limit int64) *Cache {
	return &Cache{limit: limit, seed: maphash.MakeSeed(), used: list.New(), byKey: map[uint64]*list.Element{}}
}

// key identifies what a fragment has: objects, each at a revision, in a format.
type key struct {
	hash   uint64
	format string
	// objects are the identities in memory that the entry owns.
	objects []identity
}

// identity is an object at a revision. Its key is the object's string, which is not copied.
type identity struct {
	key      string
	revision int64
}

// hash is that of objects in a format. Of the keys it has only two: runs with other keys have other revisions, except
// those of one write. The others are in no processor cache when a list begins.
func (c *Cache) hash(format string, objs []*storage.Object) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.WriteString(format) // it never fails, nor below
	if len(objs) > 0 {
		_, _ = h.WriteString(objs[0].Key)
		_, _ = h.WriteString(objs[len(objs)-1].Key)
	}
	var revision [8]byte
	for _, o := range objs {
		binary.LittleEndian.PutUint64(revision[:], uint64(o.Revision))
		_, _ = h.Write(revision[:])
	}
	return h.Sum64()
}

// is reports whether the key is that of these objects in the format.
func (k *key) is(format string, objs []*storage.Object) bool {
	return k.format == format && slices.EqualFunc(k.objects, objs, func(i identity, o *storage.Object) bool {
		return i == identity{o.Key, o.Revision}
	})
}

// entry is a fragment with its key.
type entry struct {
	key      key
	fragment *Fragment
}

// entryMemory is the memory of an entry besides its fragment and its identities.
const entryMemory = 256

func (e *entry) memory() int64 {
	n := int64(entryMemory + len(e.fragment.blocks))
	for _, o := range e.key.objects {
		n += int64(unsafe.Sizeof(o)) + int64(len(o.key))
	}
	return n
}

// Get returns the fragment of objects in a format; nil if there is none.
func (c *Cache) Get(format string, objs []*storage.Object) *Fragment {
	hash := c.hash(format, objs)
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.byKey[hash]
	if at == nil {
		return nil
	}
	e := at.Value.(*entry)
	if !e.key.is(format, objs) {
		return nil
	}
	c.used.MoveToFront(at)
	return e.fragment
}

// Put stores a fragment. Those that were used least recently make room for it.
func (c *Cache) Put(format string, objs []*storage.Object, f *Fragment) {
	k := key{c.hash(format, objs), format, make([]identity, len(objs))}
	for i, o := range objs {
		k.objects[i] = identity{o.Key, o.Revision}
	}
	e := &entry{k, f}
	n := e.memory()
	if n > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.byKey[k.hash]; at != nil {
		c.remove(at)
	}
	for c.bytes+n > c.limit {
		c.remove(c.used.Back())
	}
	c.bytes += n
	c.byKey[k.hash] = c.used.PushFront(e)
}

// remove removes an entry. mu is held.
func (c *Cache) remove(at *list.Element) {
	e := c.used.Remove(at).(*entry)
	c.bytes -= e.memory()
	delete(c.byKey, e.key.hash)
}

// Bytes is the memory of all entries.
func (c *Cache) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}
