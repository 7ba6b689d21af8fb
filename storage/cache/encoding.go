package cache

import "github.com/kubecascade/kubecascade/storage"

// Encoding returns the second encoding that the object keeps beside its JSON; nil if there is none. Callers must not
// modify it.
func (c *Cache) Encoding(o *storage.Object) []byte { return c.encodings.Get(o) }

// Keep keeps an encoding beside the object's JSON, as long as the object is in the newest state and there is space. All
// callers must have the same encoding of an object. The caller must not modify the bytes afterwards.
func (c *Cache) Keep(o *storage.Object, data []byte) {
	if c.encodings.Keep(o, data) {
		c.encodings.Sweep(c.objects)
	}
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
