package past

import (
	"container/list"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/storage"
)

// overhead estimates the memory of an object besides its JSON: key, metadata, labels, owners.
const overhead = 512

// chunk is a sequence of objects from one read. It is immutable.
type chunk struct {
	start
	// next is a key at or before the first object after the chunk; empty if there are none.
	next string
	// after is the number of objects after the chunk.
	after int64
	// objects are in key order; json is the size of their JSON in bytes.
	objects []*storage.Object
	json    int64
}

// covers reports whether the chunk has the objects that follow a key.
func (c *chunk) covers(from string) bool { return c.from <= from && (c.next == "" || from < c.next) }

// index is the index of the first object whose key is not less than from.
func (c *chunk) index(from string) int {
	return sort.Search(len(c.objects), func(i int) bool { return c.objects[i].Key >= from })
}

// size estimates the memory of the chunk without its objects, in bytes.
func (c *chunk) size() int64 { return overhead + 8*int64(len(c.objects)) }

// sizeOf estimates the memory of an object, in bytes.
func sizeOf(o *storage.Object) int64 { return overhead + int64(len(o.JSON)) }

// chunks are the ones that are kept.
//
// Invariants:
//
//	places has exactly the chunks of used, each place's sorted by from, no from twice
//	revisions has exactly the revisions of the places, by prefix, each prefix's sorted
//	uses has their objects, each with the number of chunks that have it
//	bytes is the sum of their sizes and of those of uses, and at most bound
type chunks struct {
	bound int64
	idle  time.Duration
	// mu guards the fields below. It is only held for short operations.
	mu        sync.Mutex
	places    map[place][]*kept
	revisions map[string][]int64
	uses      map[*storage.Object]int
	// used has the most recently used chunk at its front.
	used  list.List
	bytes int64
	// sweeper is set while there are chunks.
	sweeper *time.Timer
}

// kept is a chunk and when it was used last.
type kept struct {
	*chunk
	at      time.Time
	element *list.Element
}

func newChunks(bound int64, idle time.Duration) *chunks {
	return &chunks{
		bound: bound, idle: idle, places: map[place][]*kept{}, revisions: map[string][]int64{},
		uses: map[*storage.Object]int{},
	}
}

func (k *chunks) held() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bytes
}

// find returns a chunk that covers the start's key; nil if there is none.
func (k *chunks) find(s start) *chunk {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.before(s); c != nil && c.covers(s.from) {
		k.touch(c)
		return c.chunk
	}
	return nil
}

// remaining returns how many objects there are from the start's key on, if a chunk knows.
func (k *chunks) remaining(s start) (n int64, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.before(s)
	if c == nil || !c.covers(s.from) && s.from != c.next {
		return 0, false
	}
	k.touch(c)
	return c.after + int64(len(c.objects)-c.index(s.from)), true
}

// before returns the place's last chunk that begins at the start's key or before it.
func (k *chunks) before(s start) *kept {
	all := k.places[s.place]
	i, found := search(all, s.from)
	switch {
	case found:
		return all[i]
	case i > 0:
		return all[i-1]
	}
	return nil
}

// neighbours returns the next earlier and the next later revision of which a chunk covers the start's key.
func (k *chunks) neighbours(s start) (earlier, later *neighbour) {
	k.mu.Lock()
	defer k.mu.Unlock()
	earlier, later = &neighbour{kept: k}, &neighbour{kept: k}
	all := k.revisions[s.prefix]
	i, found := slices.BinarySearch(all, s.revision)
	for before := i - 1; before >= 0 && earlier.place.revision == 0; before-- {
		earlier.place = k.covering(s, all[before])
	}
	if found {
		i++
	}
	for ; i < len(all) && later.place.revision == 0; i++ {
		later.place = k.covering(s, all[i])
	}
	return earlier, later
}

// covering is the place of the start's prefix at another revision, if a chunk of it covers the start's key; else the
// zero place.
func (k *chunks) covering(s start, revision int64) place {
	s.revision = revision
	if c := k.before(s); c == nil || !c.covers(s.from) {
		return place{}
	}
	return s.place
}

// neighbour is a state at another revision, as far as it is in memory; the zero place has nothing.
type neighbour struct {
	kept  *chunks
	place place
	chunk *chunk
}

// get returns the object with a key. The keys of a neighbour's calls ascend. After the first that no chunk covers, it
// returns nil.
func (n *neighbour) get(key string) *storage.Object {
	if n.place.revision == 0 {
		return nil
	}
	if n.chunk == nil || !n.chunk.covers(key) {
		if n.chunk = n.kept.find(start{n.place, key}); n.chunk == nil {
			n.place = place{}
			return nil
		}
	}
	if i := n.chunk.index(key); i < len(n.chunk.objects) && n.chunk.objects[i].Key == key {
		return n.chunk.objects[i]
	}
	return nil
}

// average is the average size of the JSON of the place's objects in bytes, at least 1, as far as it is known; 0 if it
// isn't known.
func (k *chunks) average(p place) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	var objects, bytes int64
	for _, c := range k.places[p] {
		objects, bytes = objects+int64(len(c.objects)), bytes+c.json
	}
	if objects == 0 {
		return 0
	}
	return max(bytes/objects, 1)
}

// add keeps a chunk, unless it alone exceeds the limit, and drops others to make space for it.
func (k *chunks) add(c *chunk) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.json+overhead*int64(len(c.objects))+c.size() > k.bound {
		return
	}
	i, found := search(k.places[c.place], c.from)
	if found {
		k.drop(k.places[c.place][i])
	}
	i, _ = search(k.places[c.place], c.from)
	n := &kept{chunk: c}
	n.element = k.used.PushFront(n)
	k.insert(n, i)
	k.hold(c)
	for k.bytes > k.bound {
		k.drop(k.used.Back().Value.(*kept))
	}
	k.touch(n)
	if k.sweeper == nil {
		k.sweeper = time.AfterFunc(k.idle, k.sweep)
	}
}

// insert makes a chunk the place's i-th.
func (k *chunks) insert(c *kept, i int) {
	all := k.places[c.place]
	if len(all) == 0 {
		revisions := k.revisions[c.prefix]
		at, _ := slices.BinarySearch(revisions, c.revision)
		k.revisions[c.prefix] = slices.Insert(revisions, at, c.revision)
	}
	k.places[c.place] = slices.Insert(all, i, c)
}

// hold counts the memory of a chunk. Objects of several chunks count once.
func (k *chunks) hold(c *chunk) {
	k.bytes += c.size()
	for _, o := range c.objects {
		if k.uses[o]++; k.uses[o] == 1 {
			k.bytes += sizeOf(o)
		}
	}
}

// release undoes hold.
func (k *chunks) release(c *chunk) {
	k.bytes -= c.size()
	for _, o := range c.objects {
		if k.uses[o]--; k.uses[o] == 0 {
			delete(k.uses, o)
			k.bytes -= sizeOf(o)
		}
	}
}

func (k *chunks) touch(c *kept) {
	c.at = time.Now()
	k.used.MoveToFront(c.element)
}

func (k *chunks) drop(c *kept) {
	k.used.Remove(c.element)
	k.release(c.chunk)
	all := k.places[c.place]
	i, _ := search(all, c.from)
	if all = slices.Delete(all, i, i+1); len(all) == 0 {
		k.vacate(c.place)
		return
	}
	k.places[c.place] = all
}

// vacate removes a place that has no chunks any more.
func (k *chunks) vacate(p place) {
	delete(k.places, p)
	revisions := k.revisions[p.prefix]
	i, _ := slices.BinarySearch(revisions, p.revision)
	if revisions = slices.Delete(revisions, i, i+1); len(revisions) == 0 {
		delete(k.revisions, p.prefix)
		return
	}
	k.revisions[p.prefix] = revisions
}

// forget drops a place's chunks.
func (k *chunks) forget(p place) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range slices.Clone(k.places[p]) {
		k.drop(c)
	}
}

// sweep drops the chunks that were not used for the allowed time, and runs again when the next one is due.
func (k *chunks) sweep() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for back := k.used.Back(); back != nil; back = k.used.Back() {
		c := back.Value.(*kept)
		if left := k.idle - time.Since(c.at); left > 0 {
			k.sweeper.Reset(left)
			return
		}
		k.drop(c)
	}
	k.sweeper = nil
}

// search returns the index at which a place's chunk that begins at from is, or would be inserted.
func search(all []*kept, from string) (i int, found bool) {
	return slices.BinarySearchFunc(all, from, func(c *kept, from string) int { return strings.Compare(c.from, from) })
}
