package cache

import (
	"sync"
	"sync/atomic"
)

// memoKeys is how many renderings an event keeps.
const memoKeys = 8

// memo is a list of renderings, newest first. It only grows, until it is retired.
type memo struct{ head atomic.Pointer[rendering] }

// rendering is made by whoever asks first; the others wait for it.
type rendering struct {
	key   string
	bytes func() []byte
	next  *rendering
	place int
}

// retired is the list of an event that keeps no renderings any more.
var retired = &rendering{place: memoKeys}

// Memo returns what render returns. It is called once a key, by whoever asks first, and the bytes
// are shared by all, who may not change them; render must depend on nothing but the event and the
// key. Beyond eight keys, and for an event that is no longer among the newest, nothing is kept and
// every call renders. A panic of render reaches everyone who asks for that key.
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

// Made returns what Memo would without rendering, and whether there is such a thing.
func (e *Event) Made(key string) ([]byte, bool) {
	for r := e.memo.head.Load(); r != nil && r != retired; r = r.next {
		if r.key == key {
			return r.bytes(), true
		}
	}
	return nil, false
}

// retire forgets the renderings and keeps none from now on, so that a reader of old history does
// not make it grow.
func (e *Event) retire() { e.memo.head.Store(retired) }
