package cache

import (
	"iter"
	"slices"

	"github.com/kubecascade/kubecascade/storage"
)

// Changes yields the differences between two results of Everything, in the order of collections and keys: the old
// object (nil if it was created since) and the new one (nil if it was deleted). Objects at the same revision don't
// differ.
func Changes(then, now []*Snapshot) iter.Seq2[*storage.Object, *storage.Object] {
	key := func(o *storage.Object) string { return o.Key }
	return func(yield func(was, is *storage.Object) bool) {
		for before, after := range paired(then, now, func(s *Snapshot) string { return s.collection }) {
			for was, is := range paired(before.all(), after.all(), key) {
				same := was != nil && is != nil && was.Revision == is.Revision
				if !same && !yield(was, is) {
					return
				}
			}
		}
	}
}

// all returns the objects of a snapshot, which may be nil.
func (s *Snapshot) all() []*storage.Object {
	if s == nil {
		return nil
	}
	return slices.Collect(s.Ascend("", ""))
}

// paired yields the elements of two lists, both in the order of their keys, in pairs with the same key. One of a pair
// is nil if its list lacks the key.
func paired[T any](then, now []*T, key func(*T) string) iter.Seq2[*T, *T] {
	return func(yield func(was, is *T) bool) {
		for len(then) > 0 || len(now) > 0 {
			var was, is *T
			if len(now) == 0 || len(then) > 0 && key(then[0]) <= key(now[0]) {
				was, then = then[0], then[1:]
			}
			if len(now) > 0 && (was == nil || key(was) == key(now[0])) {
				is, now = now[0], now[1:]
			}
			if !yield(was, is) {
				return
			}
		}
	}
}
