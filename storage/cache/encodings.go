package cache

import (
	"container/list"
	"errors"
	"sync"

	"github.com/kubecascade/kubecascade/storage"
)

const (
	// mostForms is how many forms of one object or event are kept.
	mostForms = 8
	// overhead is about how many bytes an encoding takes besides its own.
	overhead = 256
)

// encodings keeps the encodings of objects, besides their JSON, and of events, up to a number of bytes. Those that were
// not used for the longest time make room for others.
type encodings struct {
	limit int64

	mu    sync.Mutex // guards the fields below, and each encoded but its forms' data
	bytes int64
	// kept has the elements of recent by what they are of: a *storage.Object or an *Event.
	kept map[any]*list.Element
	// recent has an *encoded in each element, the one that was used last in the first.
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

func newEncodings(limit int64) *encodings {
	return &encodings{limit: limit, kept: map[any]*list.Element{}}
}

// share returns what encode returns, which is called once for a form: users at the same time wait for the first. An
// error is not shared. Nothing is kept if it is not kept yet and keeps returns false.
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

// form returns a form, which is new if there is none; nil if it is not to be kept. keeps is called with the lock, which
// drop takes after it has become false.
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

// charge counts the bytes of a form that was made, and drops what exceeds the limit.
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

// drop drops what is kept of an object or event.
func (k *encodings) drop(of any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if at := k.kept[of]; at != nil {
		k.remove(at)
	}
}

// clear drops all.
func (k *encodings) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bytes = 0
	clear(k.kept)
	k.recent.Init()
}

// Encoded returns an encoding of an object, which is called by the name of its form. It is made by the first caller,
// and kept as long as the object is in the newest state and there is space. It must depend on nothing but the object
// and the form. Callers must not modify it.
func (c *Cache) Encoded(o *storage.Object, form string, encode func() ([]byte, error)) ([]byte, error) {
	newest := func() bool {
		now, _ := c.Get(o.Key)
		return now == o
	}
	return c.encodings.share(o, form, newest, encode)
}

// EncodedEvent is Encoded for an event, whose encodings are kept as long as its collection's history has it.
func (c *Cache) EncodedEvent(e *Event, form string, encode func() ([]byte, error)) ([]byte, error) {
	held := func() bool {
		v := c.state.Load().version(e.Collection)
		return v != nil && e.Revision > v.log.floor
	}
	return c.encodings.share(e, form, held, encode)
}

// EncodedBytes is the size of all encodings that are kept.
func (c *Cache) EncodedBytes() int64 {
	c.encodings.mu.Lock()
	defer c.encodings.mu.Unlock()
	return c.encodings.bytes
}
