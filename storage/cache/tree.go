package cache

import (
	"sort"
	"strings"

	"github.com/kubecascade/kubecascade/storage"
)

// width is the most entries that a node holds.
const width = 32

// token stands for one editor of trees. A node whose owner it is can't be seen by anyone else
// yet, so that editor may change it in place. It has a size because Go may give values without
// one the same address.
type token struct{ _ byte }

// node is a part of a persistent B+ tree of objects, ordered by the bytes of their keys. Nodes that
// a reader can see are never changed: an edit copies the path down to what it changes.
//
// Invariants, which every edit keeps and check tests:
//
//	leaf:   kids == nil, size == len(items), items strictly ascending
//	inner:  len(keys) == len(kids), keys[i] == smallest key below kids[i],
//	        everything below kids[i] < keys[i+1], size == sum of the kids' sizes
//	both:   width/2 <= entries <= width; of the root only: 1 <= entries of a leaf, 2 <= kids
//	        all leaves are equally deep
type node struct {
	owner *token
	size  int
	items []*storage.Object
	keys  []string
	kids  []*node
}

// entries is what width bounds.
func (n *node) entries() int { return len(n.items) + len(n.kids) }

// first is the smallest key below n.
func (n *node) first() string {
	if n.kids != nil {
		return n.keys[0]
	}
	return n.items[0].Key
}

// search returns the place of the first item with a key >= key.
func (n *node) search(key string) int {
	lo, hi := 0, len(n.items)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); n.items[mid].Key < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// route returns the place of the kid that key is, or would be put, below.
func (n *node) route(key string) int {
	i := sort.SearchStrings(n.keys, key)
	if i < len(n.keys) && n.keys[i] == key || i == 0 {
		return i
	}
	return i - 1
}

// get returns the object stored under key, or nil. n may be nil, as for all of the functions
// that follow: the empty tree.
func (n *node) get(key string) *storage.Object {
	if n == nil {
		return nil
	}
	for n.kids != nil {
		n = n.kids[n.route(key)]
	}
	if i := n.search(key); i < len(n.items) && n.items[i].Key == key {
		return n.items[i]
	}
	return nil
}

// length is the number of objects.
func (n *node) length() int {
	if n == nil {
		return 0
	}
	return n.size
}

// rank returns how many objects have keys < key.
func (n *node) rank(key string) int {
	if n == nil {
		return 0
	}
	r := 0
	for n.kids != nil {
		i := n.route(key)
		for _, k := range n.kids[:i] {
			r += k.size
		}
		n = n.kids[i]
	}
	return r + n.search(key)
}

// ascend calls yield for the objects with keys >= from in order, until it returns false.
func (n *node) ascend(from string, yield func(*storage.Object) bool) bool {
	if n == nil {
		return true
	}
	if n.kids == nil {
		for _, o := range n.items[n.search(from):] {
			if !yield(o) {
				return false
			}
		}
		return true
	}
	for _, k := range n.kids[n.route(from):] {
		if !k.ascend(from, yield) {
			return false
		}
	}
	return true
}

// after returns the smallest string that is greater than every string with the prefix; ok is
// false if there is none.
func after(prefix string) (s string, ok bool) {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1}), true
		}
	}
	return "", false
}

// count returns how many objects have keys >= from with the prefix.
func (n *node) count(prefix, from string) int {
	end := n.length()
	if s, ok := after(prefix); ok {
		end = n.rank(s)
	}
	return max(0, end-n.rank(max(prefix, from)))
}

// scan calls yield for the objects with keys >= from with the prefix, in order.
func (n *node) scan(prefix, from string, yield func(*storage.Object) bool) {
	n.ascend(max(prefix, from), func(o *storage.Object) bool {
		return strings.HasPrefix(o.Key, prefix) && yield(o)
	})
}
