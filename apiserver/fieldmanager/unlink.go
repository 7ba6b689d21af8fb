package fieldmanager

import (
	"bytes"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Links are owners and finalizers that were removed from an object.
type Links struct {
	Owners     []types.UID
	Finalizers []string
	// NoOwners and NoFinalizers say that the last one was removed.
	NoOwners, NoFinalizers bool
}

// Unlink returns the managedFields that Update would return for a write that only removes links: they have no manager
// any more, and there are no new fields. It examines only entries with owners or finalizers. It returns false if the
// write needs Update: there are no entries, or some have another version or a form that only clients send. The result
// shares memory with entries and with other results, and must not be changed.
func (m *Managers) Unlink(res *resources.Resource, entries []metav1.ManagedFieldsEntry,
	gone Links) ([]metav1.ManagedFieldsEntry, bool) {
	if len(entries) == 0 || claimed(entries) {
		return nil, false
	}
	version := res.GroupVersion().String()
	left := make([]metav1.ManagedFieldsEntry, 0, len(entries))
	for _, e := range entries {
		if e.APIVersion != version || e.FieldsV1 == nil {
			return nil, false
		}
		raw := e.FieldsV1.GetRawBytes()
		if bytes.Contains(raw, ownersField) || bytes.Contains(raw, finalizersField) {
			fields, err := m.without(raw, gone)
			if err != nil {
				return nil, false
			}
			if fields == nil {
				continue
			}
			e.FieldsV1 = fields
		}
		left = append(left, e)
	}
	return slices.Clip(left), true
}

// ownersField and finalizersField are their names in FieldsV1.
var ownersField, finalizersField = []byte(`"f:ownerReferences"`), []byte(`"f:finalizers"`)

// fields is the set of the removed fields.
func (l Links) fields() *fieldpath.Set {
	owners := fieldpath.MakePathOrDie("metadata", "ownerReferences")
	finalizers := fieldpath.MakePathOrDie("metadata", "finalizers")
	s := fieldpath.NewSet()
	for _, uid := range l.Owners {
		key := fieldpath.KeyByFields("uid", string(uid))
		s.Insert(append(owners.Copy(), fieldpath.PathElement{Key: key}))
	}
	for _, f := range l.Finalizers {
		v := value.NewValueInterface(f)
		s.Insert(append(finalizers.Copy(), fieldpath.PathElement{Value: &v}))
	}
	if l.NoOwners {
		s.Insert(owners)
	}
	if l.NoFinalizers {
		s.Insert(finalizers)
	}
	return s
}

// unlinked is the result for one entry's fields.
type unlinked struct {
	raw  []byte
	gone Links
	// left is nil if no field is left.
	left *metav1.FieldsV1
}

func (u *unlinked) of(raw []byte, gone Links) bool {
	return bytes.Equal(u.raw, raw) &&
		slices.Equal(u.gone.Owners, gone.Owners) && slices.Equal(u.gone.Finalizers, gone.Finalizers) &&
		u.gone.NoOwners == gone.NoOwners && u.gone.NoFinalizers == gone.NoFinalizers
}

// without returns FieldsV1 without the removed fields; nil if none is left. Dependents of one owner usually have the
// same fields, so the last result is cached. Callers must not change it.
func (m *Managers) without(raw []byte, gone Links) (*metav1.FieldsV1, error) {
	if last := m.unlinked.Load(); last != nil && last.of(raw, gone) {
		return last.left, nil
	}
	owned := fieldpath.NewSet()
	if err := owned.FromJSON(bytes.NewReader(raw)); err != nil {
		return nil, err
	}
	u := &unlinked{raw: raw, gone: gone}
	if owned = owned.Difference(gone.fields()); !owned.Empty() {
		data, err := owned.ToJSON()
		if err != nil {
			return nil, err
		}
		u.left = &metav1.FieldsV1{}
		u.left.SetRawBytes(data)
	}
	m.unlinked.Store(u)
	return u.left, nil
}
