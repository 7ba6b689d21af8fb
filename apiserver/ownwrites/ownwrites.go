package ownwrites

import (
	"sync/atomic"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// Revisions are those of the last writes. A revision's slot is its remainder, so a newer revision replaces an older
// one.
type Revisions struct {
	last   [1 << 15]atomic.Int64
	custom [1 << 12]atomic.Pointer[ofCustom]
}

// ofCustom is a write of a custom resource. by belongs to the state of the CustomResourceDefinition by which the object
// was found to be canonical: when that changes, there is another one.
type ofCustom struct {
	revision int64
	by       *storage.Verification
}

// Add records a revision of an object of a built-in type.
func (v *Revisions) Add(rev int64) { v.last[rev%int64(len(v.last))].Store(rev) }

// AddCustom records a revision of a custom resource that is canonical by the schema that by belongs to.
func (v *Revisions) AddCustom(rev int64, by *storage.Verification) {
	v.custom[rev%int64(len(v.custom))].Store(&ofCustom{rev, by})
}

// Has reports whether the object was written lately. Its event may arrive before Add is called.
func (v *Revisions) Has(res *resources.Resource, o *storage.Object) bool {
	switch {
	case o.Revision <= 0:
		return false
	case res.Custom:
		w := v.custom[o.Revision%int64(len(v.custom))].Load()
		return w != nil && w.revision == o.Revision && w.by == res.Verified
	}
	return v.last[o.Revision%int64(len(v.last))].Load() == o.Revision
}

// refused is the verification of objects that Refuse was called for.
var refused storage.Verification

// Refuse says that an object is not what was written at its revision: the result of a dry run, or of an update that
// removes the object, has the revision of the object before it.
func Refuse(o *storage.Object) { o.SetVerified(&refused) }

// Mark is Has, and marks the object as verified if it returns true.
func (v *Revisions) Mark(res *resources.Resource, o *storage.Object) bool {
	if o.Err != nil || o.VerifiedBy(&refused) || !v.Has(res, o) {
		return false
	}
	o.SetVerified(res.Verified)
	return true
}
