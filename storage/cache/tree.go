package cache

import (
	"sort"
	"strings"

	"github.com/kubecascade/kubecascade/storage"
)

// width is the maximum number of entries of a node.
const width = 32

// token identifies one editor of trees. No reader can see a node with a token yet, so its editor may change it in
// place. It has a size because Go may give values without one the same address.
type token struct{ _ byte }

// node is a part of a persistent B+ tree of objects, ordered by the bytes of their keys. Nodes that a reader can see
// are never changed: an edit copies the nodes on the path to its change.
//
// Invariants, which every edit keeps and check tests:
//
//	leaf:   children == nil, size == len(items), items strictly ascending
//	inner:  len(keys) == len(children), keys[i] == smallest key below children[i],
//	        everything below children[i] < keys[i+1], size == sum of the children' sizes
//	both:   width/2 <= entries <= width; of the root only: 1 <= entries of a leaf, 2 <= children
//	        all leaves are equally deep
type node struct {
	owner    *token
	size     int
	items    []*storage.Object
	keys     []string
	children []*node
}

// entries is the number that width limits.
func (n *node) entries() int { return len(n.items) + len(n.children) }

// first is the smallest key below n.
func (n *node) first() string {
	if n.children != nil {
		return n.keys[0]
	}
	return n.items[0].Key
}

// search returns the index of the first item with a key >= key.
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

// route returns the index of the child below which the key is, or would be put.
func (n *node) route(key string) int {
	i := sort.SearchStrings(n.keys, key)
	if i < len(n.keys) && n.keys[i] == key || i == 0 {
		return i
	}
	return i - 1
}

// get returns the object stored under key, or nil. n may be nil, the empty tree, here and in the functions below.
func (n *node) get(key string) *storage.Object {
	if n == nil {
		return nil
	}
	for n.children != nil {
		n = n.children[n.route(key)]
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
	for n.children != nil {
		i := n.route(key)
		for _, k := range n.children[:i] {
			r += k.size
		}
		n = n.children[i]
	}
	return r + n.search(key)
}

// ascend calls yield for the objects with keys >= from in order, until it returns false.
func (n *node) ascend(from string, yield func(*storage.Object) bool) bool {
	if n == nil {
		return true
	}
	if n.children == nil {
		for _, o := range n.items[n.search(from):] {
			if !yield(o) {
				return false
			}
		}
		return true
	}
	for _, k := range n.children[n.route(from):] {
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
