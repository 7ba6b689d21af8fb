package cache

import (
	"slices"

	"github.com/kubecascade/kubecascade/storage"
)

// editor changes trees: the trees that it returns share all unchanged nodes with the original. It changes nodes that it
// has made itself in place. So a tree may only be published when its editor is no longer used.
type editor struct{ owner *token }

func newEditor() editor { return editor{owner: new(token)} }

// own returns n if the editor owns it, or a copy. A copy has capacity for one entry more than width, before it is
// split.
func (e editor) own(n *node) *node {
	if n.owner == e.owner {
		return n
	}
	if n.children == nil {
		return e.leaf(n.items)
	}
	return &node{
		owner: e.owner, size: n.size,
		keys:     append(make([]string, 0, width+1), n.keys...),
		children: append(make([]*node, 0, width+1), n.children...),
	}
}

// leaf makes a leaf with a copy of the items.
func (e editor) leaf(items []*storage.Object) *node {
	return &node{owner: e.owner, size: len(items), items: append(make([]*storage.Object, 0, width+1), items...)}
}

// parent makes an inner node above a copy of the children.
func (e editor) parent(children []*node) *node {
	n := &node{owner: e.owner, keys: make([]string, 0, width+1), children: append(make([]*node, 0, width+1), children...)}
	for _, k := range children {
		n.keys = append(n.keys, k.first())
		n.size += k.size
	}
	return n
}

// put returns the tree with the object under its key.
func (e editor) put(root *node, o *storage.Object) *node {
	if root == nil {
		return e.leaf([]*storage.Object{o})
	}
	left, right := e.insert(root, o)
	if right != nil {
		return e.parent([]*node{left, right})
	}
	return left
}

// insert puts the object below n. If n becomes too wide, its upper half is returned as right.
func (e editor) insert(n *node, o *storage.Object) (left, right *node) {
	n = e.own(n)
	if n.children == nil {
		i := n.search(o.Key)
		if i < len(n.items) && n.items[i].Key == o.Key {
			n.items[i] = o
			return n, nil
		}
		n.items = slices.Insert(n.items, i, o)
		n.size++
		return n, e.split(n)
	}
	i := n.route(o.Key)
	n.size -= n.children[i].size
	kid, upper := e.insert(n.children[i], o)
	n.keys[i], n.children[i] = kid.first(), kid
	n.size += kid.size
	if upper == nil {
		return n, nil
	}
	n.keys = slices.Insert(n.keys, i+1, upper.first())
	n.children = slices.Insert(n.children, i+1, upper)
	n.size += upper.size
	return n, e.split(n)
}

// split moves the upper half of a node that is too wide to a new node and returns that; nil if the node isn't too wide.
func (e editor) split(n *node) *node {
	if n.entries() <= width {
		return nil
	}
	return e.cut(n, n.entries()/2)
}

// cut moves the entries from index i on from n, which e owns, to a new node.
func (e editor) cut(n *node, i int) *node {
	var right *node
	if n.children == nil {
		right = e.leaf(n.items[i:])
		clear(n.items[i:])
		n.items = n.items[:i]
	} else {
		right = e.parent(n.children[i:])
		clear(n.children[i:])
		clear(n.keys[i:])
		n.keys, n.children = n.keys[:i], n.children[:i]
	}
	n.size -= right.size
	return right
}

// remove returns the tree without the key; the same tree if it isn't there.
func (e editor) remove(root *node, key string) *node {
	if root.get(key) == nil {
		return root
	}
	root = e.take(root, key)
	switch {
	case root.entries() == 0:
		return nil
	case len(root.children) == 1:
		return root.children[0]
	}
	return root
}

// take removes a present key. The returned node may have one entry too few.
func (e editor) take(n *node, key string) *node {
	n = e.own(n)
	n.size--
	if n.children == nil {
		i := n.search(key)
		n.items = slices.Delete(n.items, i, i+1)
		return n
	}
	i := n.route(key)
	kid := e.take(n.children[i], key)
	n.keys[i], n.children[i] = kid.first(), kid
	if kid.entries() < width/2 {
		e.balance(n, max(0, i-1))
	}
	return n
}

// balance merges the children at i and i+1 into one node if they fit, or makes their widths about equal.
func (e editor) balance(n *node, i int) {
	left, right := e.own(n.children[i]), n.children[i+1]
	left.items = append(left.items, right.items...)
	left.keys = append(left.keys, right.keys...)
	left.children = append(left.children, right.children...)
	left.size += right.size
	n.children[i] = left
	if total := left.entries(); total > width {
		right = e.cut(left, total/2)
		n.keys[i+1], n.children[i+1] = right.first(), right
		return
	}
	n.keys = slices.Delete(n.keys, i+1, i+2)
	n.children = slices.Delete(n.children, i+1, i+2)
}

// build makes a tree of objects in strictly ascending order of their keys.
func (e editor) build(sorted []*storage.Object) *node {
	if len(sorted) == 0 {
		return nil
	}
	var level []*node
	for part := range portions(sorted) {
		level = append(level, e.leaf(part))
	}
	for len(level) > 1 {
		var above []*node
		for part := range portions(level) {
			above = append(above, e.parent(part))
		}
		level = above
	}
	return level[0]
}

// portions splits s into parts of about equal length, about 3/4 of width to leave space for insertions. None is shorter
// than width/2, unless it is the only one.
func portions[T any](s []T) func(yield func([]T) bool) {
	parts := 1
	if most := width * 3 / 4; len(s) > width {
		parts = (len(s) + most - 1) / most
	}
	return func(yield func([]T) bool) {
		for ; parts > 0; parts-- {
			n := (len(s) + parts - 1) / parts
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}
