package cache

import (
	"iter"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/storage"
)

// Changes yields the differences between two results of Everything, in the order of collections and keys: the old
// object (nil if it was created since) and the new one (nil if it was deleted). Objects at the same revision don't
// differ.
func Changes(then, now []*Snapshot) iter.Seq2[*storage.Object, *storage.Object] {
	return func(yield func(was, is *storage.Object) bool) {
		for len(then) > 0 || len(now) > 0 {
			var was, is []*storage.Object
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
				was, then = then[0].all(), then[1:]
			}
			if order >= 0 {
				is, now = now[0].all(), now[1:]
			}
			if !compare(was, is, yield) {
				return
			}
		}
	}
}

func (s *Snapshot) all() []*storage.Object {
	return slices.Collect(s.Ascend("", ""))
}

// compare yields the differences between the objects of a collection, both in the order of their keys.
func compare(then, now []*storage.Object, yield func(was, is *storage.Object) bool) bool {
	for len(then) > 0 || len(now) > 0 {
		var was, is *storage.Object
		switch {
		case len(now) == 0 || len(then) > 0 && then[0].Key < now[0].Key:
			was, then = then[0], then[1:]
		case len(then) == 0 || now[0].Key < then[0].Key:
			is, now = now[0], now[1:]
		default:
			same := then[0].Revision == now[0].Revision
			was, is, then, now = then[0], now[0], then[1:], now[1:]
			if same {
				continue
			}
		}
		if !yield(was, is) {
			return false
		}
	}
	return true
}
