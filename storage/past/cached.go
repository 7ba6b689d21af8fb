package past

import (
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Cached returns the Options with which a Reader uses the newest state of a cache. root is the prefix of all keys.
func Cached(c *cache.Cache, root string) Options {
	return Options{
		Newest: func(prefix, from string, n int) Part {
			collection, _, ok := storage.Collection(root, prefix+"x")
			snap, err := c.Snapshot(collection, 0)
			if !ok || err != nil {
				return Part{}
			}
			part := Part{Revision: snap.Revision(), Objects: make([]*storage.Object, 0, min(n, snap.Len()))}
			snap.Ascend(prefix, from, func(o *storage.Object) bool {
				if len(part.Objects) == n {
					part.End = o.Key
					return false
				}
				part.Objects = append(part.Objects, o)
				return true
			})
			return part
		},
		Known: func(key string, rev int64) *storage.Object {
			if o, _ := c.Get(key); o != nil && o.Revision == rev {
				return o
			}
			return nil
		},
	}
}
