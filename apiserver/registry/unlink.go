package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/objectmeta"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/storage"
)

// unlink is updateOnce for a write that only removes owners and finalizers. It decodes and encodes only the metadata: a
// cascade makes one such write for each dependent that stays. The rest of the object is stored unchanged, so it must be
// known to be readable. No built-in admission plugin acts on such a write of a controller; if a webhook or policy may
// (O-10), or if the audit log has the whole object, the write needs updateOnce. unlink returns false, and has done
// nothing, if the write needs updateOnce.
func (s *Registry) unlink(ctx context.Context, o *Operation, cur *storage.Object) (
	out *storage.Object, done bool, err error) {
	if o.DryRun || o.Resource.Custom || o.Resource.Written != nil || o.Resource.Delete.SpecFinalizers != nil ||
		o.Audit.Requests() || !s.known(o.Resource, cur) || s.concerned(o, admission.Update) {
		return nil, false, nil
	}
	from, to := cur.Metadata()
	if to == 0 {
		return nil, false, nil
	}
	old, obj := &metav1.ObjectMeta{}, &metav1.ObjectMeta{}
	if !objectmeta.Decode(cur.JSON[from:to], old) && json.Unmarshal(cur.JSON[from:to], old) != nil {
		return nil, false, nil
	}
	*obj = *old // o.link changes no fields but those that are copied here
	obj.OwnerReferences, obj.Finalizers = slices.Clone(old.OwnerReferences), slices.Clone(old.Finalizers)
	for i := range obj.OwnerReferences {
		old.OwnerReferences[i].DeepCopyInto(&obj.OwnerReferences[i]) // references contain pointers
	}
	if err := o.link(obj); err != nil {
		return nil, true, err
	}
	gone, ok := lostLinks(old, obj)
	if !ok {
		return nil, false, nil
	}
	if obj.ManagedFields, ok = s.Fields.Unlink(o.Resource, old.ManagedFields, gone); !ok {
		return nil, false, nil
	}
	if err := invalidObject(o.Resource, obj, validateMetaChange(o.Resource, obj, old)); err != nil {
		return nil, true, err
	}
	verdict := finalizers.Update(lifecycleIn(old), lifecycleIn(obj), s.Now())
	obj.ResourceVersion, obj.SelfLink = "", ""
	metadata, err := json.Marshal(obj)
	if err != nil {
		return nil, true, fmt.Errorf("encoding metadata of %s: %w", o.Resource.Kind, err)
	}
	v := value{json: slices.Concat(cur.JSON[:from], metadata, cur.JSON[to:])}
	if verdict.Step != finalizers.Store {
		out, err = s.release(ctx, o, cur, v)
		return out, true, err
	}
	rev, err := s.Commit(ctx, o, storage.Txn{Key: cur.Key, Expect: cur.Revision, Value: v.json,
		Guards: o.guards, TTL: s.TTL(o)})
	switch {
	case errors.Is(err, storage.ErrTooLarge):
		return nil, false, nil
	case err != nil:
		return nil, true, err
	}
	return s.written(o, cur.Key, v, rev), true, nil
}

// lostLinks returns the owners and finalizers that were removed from obj. It returns false if none was removed, if the
// lists were changed in another way, or if duplicates make the removed entries ambiguous.
func lostLinks(old, obj *metav1.ObjectMeta) (gone fieldmanager.Links, ok bool) {
	seen := make(map[any]bool, len(old.OwnerReferences)+len(old.Finalizers))
	kept := 0
	for _, r := range old.OwnerReferences {
		if seen[r.UID] {
			return gone, false
		}
		seen[r.UID] = true
		if kept < len(obj.OwnerReferences) && objectmeta.KeyOf(r) == objectmeta.KeyOf(obj.OwnerReferences[kept]) {
			kept++
			continue
		}
		gone.Owners = append(gone.Owners, r.UID)
	}
	ok = kept == len(obj.OwnerReferences)
	kept = 0
	for _, f := range old.Finalizers {
		if seen[f] {
			return gone, false
		}
		seen[f] = true
		if kept < len(obj.Finalizers) && obj.Finalizers[kept] == f {
			kept++
			continue
		}
		gone.Finalizers = append(gone.Finalizers, f)
	}
	ok = ok && kept == len(obj.Finalizers) && len(gone.Owners)+len(gone.Finalizers) > 0
	gone.NoOwners = len(obj.OwnerReferences) == 0 && len(old.OwnerReferences) > 0
	gone.NoFinalizers = len(obj.Finalizers) == 0 && len(old.Finalizers) > 0
	return gone, ok
}
