package registry

import (
	"sync/atomic"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// OwnWrites remember the revisions of the last writes of built-in types by this process. An object that is stored at
// such a revision was encoded from its type, so it is readable and need not be decoded to check that. A revision's slot
// is its remainder, so a newer revision replaces an older one.
type OwnWrites struct{ Last [1 << 15]atomic.Int64 }

// Add records a revision that this process has written.
func (v *OwnWrites) Add(rev int64) { v.Last[rev%int64(len(v.Last))].Store(rev) }

// Has reports whether this process has written the object lately. Its event may arrive before Add is called.
func (v *OwnWrites) Has(res *resources.Resource, o *storage.Object) bool {
	return !res.Custom && o.Revision > 0 && v.Last[o.Revision%int64(len(v.Last))].Load() == o.Revision
}
