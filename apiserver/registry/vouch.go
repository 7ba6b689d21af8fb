package registry

import (
	"sync/atomic"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// Vouchers are the revisions of the last writes that were made here, of built-in types: what is stored at one
// is an object that was encoded from its type, and needn't be decoded to be known as sound. The place of a
// revision is its remainder, so each forgets the one before it.
type Vouchers struct{ Last [1 << 15]atomic.Int64 }

// Add remembers that a revision was written by this process.
func (v *Vouchers) Add(rev int64) { v.Last[rev%int64(len(v.Last))].Store(rev) }

// Has reports whether the object was written here lately. Its event may come before the write is known.
func (v *Vouchers) Has(res *resources.Resource, o *storage.Object) bool {
	return !res.Custom && o.Revision > 0 && v.Last[o.Revision%int64(len(v.Last))].Load() == o.Revision
}
