package apply

import (
	"bytes"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Links are owners and finalizers that an object had.
type Links struct {
	Owners     []types.UID
	Finalizers []string
	// NoOwners and NoFinalizers say that none is left, where there were some.
	NoOwners, NoFinalizers bool
}

// Unlink returns managedFields as Update makes them of a write that does nothing but take links away:
// they have no owner any longer, and nothing new has one. It looks at those entries only that name owners or
// finalizers. It reports false where it takes Update to know: no entries, some of another version, or of a form
// that only clients bring. What the entries point to is shared with entries and with other answers, and must
// not be changed.
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

// ownersField and finalizersField are how FieldsV1 names them.
var ownersField, finalizersField = []byte(`"f:ownerReferences"`), []byte(`"f:finalizers"`)

// fields is the set of what is gone.
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

// unlinked is what was left of one entry's fields.
type unlinked struct {
	raw  []byte
	gone Links
	// left is nil if nothing was.
	left *metav1.FieldsV1
}

func (u *unlinked) of(raw []byte, gone Links) bool {
	return bytes.Equal(u.raw, raw) &&
		slices.Equal(u.gone.Owners, gone.Owners) && slices.Equal(u.gone.Finalizers, gone.Finalizers) &&
		u.gone.NoOwners == gone.NoOwners && u.gone.NoFinalizers == gone.NoFinalizers
}

// without returns FieldsV1 without what is gone; nil if nothing is left. Dependents of one owner have the same
// fields, as a rule, so the last answer is kept. It must not be changed.
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
