package cache

import (
	"sync"
	"sync/atomic"
)

// memoKeys is how many renderings an event keeps.
const memoKeys = 8

// memo is a list of renderings, newest first. It only grows until it is retired.
type memo struct{ head atomic.Pointer[rendering] }

// rendering is made by the first caller; the others wait for it.
type rendering struct {
	key   string
	bytes func() []byte
	next  *rendering
	place int
}

// retired is the list of an event that keeps no more renderings.
var retired = &rendering{place: memoKeys}

// Memo returns the result of render. render is called once for each key, by the first caller; all callers share the
// bytes, which must not be modified. render must depend on nothing but the event and the key. Beyond eight keys, and
// for an event that is no longer among the newest, nothing is kept and every call renders. A panic of render reaches
// every caller that wants that key.
func (e *Event) Memo(key string, render func() []byte) []byte {
	var fresh *rendering
	for {
		head := e.memo.head.Load()
		for r := head; r != nil && r != retired; r = r.next {
			if r.key == key {
				return r.bytes()
			}
		}
		place := 1
		if head != nil {
			place = head.place + 1
		}
		if place > memoKeys {
			return render()
		}
		if fresh == nil {
			fresh = &rendering{key: key, bytes: sync.OnceValue(render)}
		}
		fresh.next, fresh.place = head, place
		if e.memo.head.CompareAndSwap(head, fresh) {
			return fresh.bytes()
		}
	}
}

// Made returns the rendering that Memo would return, if there is one.
func (e *Event) Made(key string) ([]byte, bool) {
	for r := e.memo.head.Load(); r != nil && r != retired; r = r.next {
		if r.key == key {
			return r.bytes(), true
		}
	}
	return nil, false
}

// retire drops the renderings and keeps none from now on, so that readers of old history don't make it grow.
func (e *Event) retire() { e.memo.head.Store(retired) }
