package cache

import (
	"container/list"
	"errors"
	"sync"

	"github.com/kubecascade/kubecascade/storage"
)

const (
	// mostForms is the maximum number of forms of one object or event.
	mostForms = 8
	// overhead is the approximate memory that an encoding takes besides its bytes.
	overhead = 256
)

// encodings keeps the encodings of objects, besides their JSON, and of events, up to a number of bytes. The least
// recently used are dropped.
type encodings struct {
	limit int64

	mu    sync.Mutex // guards the fields below, and each encoded but its forms' data
	bytes int64
	// kept maps a *storage.Object or an *Event to its element of recent.
	kept map[any]*list.Element
	// recent has an *encoded in each element; the most recently used is first.
	recent list.List
}

// encoded are the encodings of one object or event.
type encoded struct {
	of    any
	forms []*form
	bytes int64
}

// form is one encoding. Its first user makes it.
type form struct {
	name string
	once sync.Once
	data []byte
	err  error
}

// errUnmade is the error of an encoding whose first user has panicked.
var errUnmade = errors.New("cache: the encoding was not made")

// share returns the encoding of a form. The first caller makes it with encode; callers at the same time wait for its
// result. An error is not shared. The result is not kept if the object or event has no encodings yet and keeps returns
// false.
func (k *encodings) share(of any, name string, keeps func() bool, encode func() ([]byte, error)) ([]byte, error) {
	f := k.form(of, name, keeps)
	if f == nil {
		return encode()
	}
	first := false
	f.once.Do(func() {
		first, f.err = true, errUnmade
		if f.data, f.err = encode(); f.err != nil {
			k.drop(of)
			return
		}
		k.charge(of, int64(len(f.data))+overhead)
	})
	if f.err != nil && !first {
		return encode()
	}
	return f.data, f.err
}

// form returns the form of that name, and adds it if there is none. It returns nil if there are mostForms, or if there
// are none and keeps returns false. form calls keeps while it holds the lock, and drop takes the lock after keeps has
// become false. So no form is added after drop.
func (k *encodings) form(of any, name string, keeps func() bool) *form {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.kept[of]
	if at == nil {
		if !keeps() {
			return nil
		}
		at = k.recent.PushFront(&encoded{of: of})
		k.kept[of] = at
	}
	k.recent.MoveToFront(at)
	e := at.Value.(*encoded)
	for _, f := range e.forms {
		if f.name == name {
			return f
		}
	}
	if len(e.forms) == mostForms {
		return nil
	}
	f := &form{name: name}
	e.forms = append(e.forms, f)
	return f
}

// charge counts the bytes of a form that was made, and drops the encodings that exceed the limit.
func (k *encodings) charge(of any, n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.kept[of]
	if at == nil { // dropped
		return
	}
	at.Value.(*encoded).bytes += n
	k.bytes += n
	for k.bytes > k.limit {
		k.remove(k.recent.Back())
	}
}

func (k *encodings) remove(at *list.Element) {
	e := k.recent.Remove(at).(*encoded)
	delete(k.kept, e.of)
	k.bytes -= e.bytes
}

// drop drops the encodings of an object or event.
func (k *encodings) drop(of any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if at := k.kept[of]; at != nil {
		k.remove(at)
	}
}

func (k *encodings) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bytes = 0
	clear(k.kept)
	k.recent.Init()
}

// Encoded returns the encoding of an object in a form. The first caller makes it with encode. It is kept while the
// object is in the newest state and there is space. It must depend only on the object and the form. Callers must not
// modify it.
func (c *Cache) Encoded(o *storage.Object, form string, encode func() ([]byte, error)) ([]byte, error) {
	newest := func() bool {
		now, _ := c.Get(o.Key)
		return now == o
	}
	return c.encodings.share(o, form, newest, encode)
}

// EncodedEvent is Encoded for an event. Its encodings are kept while its collection's history contains the event.
func (c *Cache) EncodedEvent(e *Event, form string, encode func() ([]byte, error)) ([]byte, error) {
	held := func() bool {
		v := c.state.Load().version(e.Collection)
		return v != nil && e.Revision > v.log.floor
	}
	return c.encodings.share(e, form, held, encode)
}

// EncodedBytes returns the size of all encodings that are kept.
func (c *Cache) EncodedBytes() int64 {
	c.encodings.mu.Lock()
	defer c.encodings.mu.Unlock()
	return c.encodings.bytes
}
