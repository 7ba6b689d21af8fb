package apiserver

import (
	"sync/atomic"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// vouchers are the revisions of the last writes that were made here, of built-in types: what is stored at one
// is an object that was encoded from its type, and needn't be decoded to be known as sound. The place of a
// revision is its remainder, so each forgets the one before it.
type vouchers struct{ last [1 << 15]atomic.Int64 }

func (v *vouchers) add(rev int64) { v.last[rev%int64(len(v.last))].Store(rev) }

// has reports whether the object was written here lately. Its event may come before the write is known.
func (v *vouchers) has(res *resources.Resource, o *storage.Object) bool {
	return !res.Custom && o.Revision > 0 && v.last[o.Revision%int64(len(v.last))].Load() == o.Revision
}
