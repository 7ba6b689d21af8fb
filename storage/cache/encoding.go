package cache

import (
	"bytes"

	"github.com/kubecascade/kubecascade/storage"
)

// Encoding returns the second encoding that the object keeps beside its JSON; nil if there is none. Callers must not
// modify it. The object may be a copy of one in the newest state, such as the result of a write.
func (c *Cache) Encoding(o *storage.Object) []byte { return c.encodings.Get(c.newest(o)) }

// Keep keeps an encoding beside the object's JSON, as long as the object is in the newest state and there is space. All
// callers must have the same encoding of an object, and of its copies. The caller must not modify the bytes afterwards.
func (c *Cache) Keep(o *storage.Object, data []byte) {
	if c.encodings.Keep(c.newest(o), data) {
		c.encodings.Sweep(c.objects)
	}
}

// newest returns the object of the newest state of which o is a copy; o if there is none. The result of a dry run has
// the revision of the object, but another value.
func (c *Cache) newest(o *storage.Object) *storage.Object {
	if c.encodings.Admits(o) {
		return o
	}
	if now, _ := c.Get(o.Key); now != nil && now.Revision == o.Revision && bytes.Equal(now.JSON, o.JSON) {
		return now
	}
	return o
}

// EncodingBytes is the size of all encodings that are kept.
func (c *Cache) EncodingBytes() int64 { return c.encodings.Bytes() }

// objects yields all objects of the newest state.
func (c *Cache) objects(yield func(*storage.Object) bool) {
	going := true
	for _, v := range c.state.Load().versions[timeline+1:] {
		v.objects.ascend("", func(o *storage.Object) bool {
			going = yield(o)
			return going
		})
		if !going {
			return
		}
	}
}

// replace drops the encoding of an object that is no longer in the newest state, and lets the one that is there now
// keep one. Either may be nil.
func (c *Cache) replace(old, now *storage.Object) {
	if old != nil {
		c.encodings.Release(old)
	}
	if now != nil {
		c.encodings.Admit(now)
	}
}
