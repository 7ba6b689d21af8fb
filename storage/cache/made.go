package cache

import "github.com/kubecascade/kubecascade/storage"

// NewSnapshot makes a snapshot of objects that were read elsewhere, at revisions that the cache
// doesn't reach back to. sorted is in byte order of the keys, and is the snapshot's from now on.
func NewSnapshot(collection string, rev int64, sorted []*storage.Object) *Snapshot {
	return &Snapshot{collection: collection, revision: rev, objects: newEditor().build(sorted)}
}
