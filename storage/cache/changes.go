package cache

import (
	"iter"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/storage"
)

// Changes yields what differs between two results of Everything, in the order of the collections and keys: the object
// then, nil if it was created since, and the one now, nil if it was deleted. Objects at the same revision don't differ.
// It costs what was written in between, however much is stored: the trees share all else.
func Changes(then, now []*Snapshot) iter.Seq2[*storage.Object, *storage.Object] {
	return func(yield func(was, is *storage.Object) bool) {
		for len(then) > 0 || len(now) > 0 {
			var was, is *node
			order := 0
			switch {
			case len(then) == 0:
				order = 1
			case len(now) == 0:
				order = -1
			default:
				order = strings.Compare(then[0].collection, now[0].collection)
			}
			if order <= 0 {
				was, then = then[0].objects, then[1:]
			}
			if order >= 0 {
				is, now = now[0].objects, now[1:]
			}
			if !compare(newCursor(was), newCursor(is), yield) {
				return
			}
		}
	}
}

// compare yields what differs between the trees of two cursors. A subtree that is next in both is skipped. All leaves
// are equally deep, so a shared subtree is next in both at the same time, or its children are, if the higher of two
// subtrees is always opened.
func compare(then, now *cursor, yield func(was, is *storage.Object) bool) bool {
	for {
		x, y := then.next(), now.next()
		high, low := x.height(), y.height()
		more := true
		switch {
		case x == nil && y == nil:
			return true
		case x == y && then.read == now.read:
			then.pop()
			now.pop()
		case high > 1 && high >= low:
			then.open()
		case low > 1:
			now.open()
		case x != nil && y != nil && then.object() == now.object(): // most of a changed leaf's objects
			then.advance()
			now.advance()
		case y == nil || x != nil && then.object().Key < now.object().Key:
			more = yield(then.object(), nil)
			then.advance()
		case x == nil || then.object().Key > now.object().Key:
			more = yield(nil, now.object())
			now.advance()
		default:
			if then.object().Revision != now.object().Revision {
				more = yield(then.object(), now.object())
			}
			then.advance()
			now.advance()
		}
		if !more {
			return false
		}
	}
}

// cursor walks through a tree in the order of keys.
type cursor struct {
	// stack has the subtrees that are left, the next one at its end.
	stack []*node
	// read is how many items of the next subtree, a leaf, were passed.
	read int
}

// newCursor returns a cursor before the first object of a tree, which may be nil.
func newCursor(root *node) *cursor {
	c := &cursor{}
	if root != nil {
		c.stack = append(c.stack, root)
	}
	return c
}

// next is the next subtree; nil at the end.
func (c *cursor) next() *node {
	if len(c.stack) == 0 {
		return nil
	}
	return c.stack[len(c.stack)-1]
}

// pop passes the next subtree.
func (c *cursor) pop() { c.stack, c.read = c.stack[:len(c.stack)-1], 0 }

// open replaces the next subtree by its children.
func (c *cursor) open() {
	n := c.next()
	c.pop()
	for _, k := range slices.Backward(n.children) {
		c.stack = append(c.stack, k)
	}
}

// object is the next object; the next subtree is a leaf.
func (c *cursor) object() *storage.Object { return c.next().items[c.read] }

// advance passes an object.
func (c *cursor) advance() {
	if c.read++; c.read == len(c.next().items) {
		c.pop()
	}
}

// height is 1 for a leaf, and 0 for nil.
func (n *node) height() (h int) {
	for ; n != nil; h++ {
		if n.children == nil {
			return h + 1
		}
		n = n.children[0]
	}
	return h
}
