package objectmeta

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// Decode decodes metadata into m. It returns false, and does not change m, if the metadata does not have the stored
// form; then a general JSON decoder must decode it.
func Decode(data []byte, m *metav1.ObjectMeta) bool {
	r := reader{jsonscan.New(data)}
	var out metav1.ObjectMeta
	r.meta(&out)
	if !r.Done() {
		return false
	}
	*m = out
	return true
}

// reader fails at anything that does not have the stored form. After a failure its results are invalid.
type reader struct{ jsonscan.Scanner }

// The members of metadata, owner references and entries of managedFields, in the stored order.
var (
	metaMembers = []string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences",
		"finalizers", "managedFields"}
	ownerMembers = []string{"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}
	entryMembers = []string{"manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"}
)

// object calls read before each member's value. It fails if a member is not one of names, or is not in their order;
// duplicates are not in order.
func (r *reader) object(names []string, read func(name string)) {
	if !r.Open('{') {
		r.Fail("object expected")
		return
	}
	for first := true; ; first = false {
		found, _, ok := r.Key(first)
		if !ok {
			return
		}
		for len(names) > 0 && string(found.Raw) != names[0] {
			names = names[1:]
		}
		if len(names) == 0 {
			r.Fail("unknown member")
			return
		}
		read(names[0])
		names = names[1:]
	}
}

func (r *reader) meta(m *metav1.ObjectMeta) {
	r.object(metaMembers, func(name string) {
		switch name {
		case "name":
			m.Name = r.text()
		case "generateName":
			m.GenerateName = r.text()
		case "namespace":
			m.Namespace = r.text()
		case "selfLink":
			m.SelfLink = r.text()
		case "uid":
			m.UID = types.UID(r.text())
		case "resourceVersion":
			m.ResourceVersion = r.text()
		case "generation":
			m.Generation = r.integer()
		case "creationTimestamp":
			m.CreationTimestamp = r.time()
		case "deletionTimestamp":
			m.DeletionTimestamp = new(r.time())
		case "deletionGracePeriodSeconds":
			m.DeletionGracePeriodSeconds = new(r.integer())
		case "labels":
			m.Labels = r.table()
		case "annotations":
			m.Annotations = r.table()
		case "ownerReferences":
			m.OwnerReferences = list(r, r.owner)
		case "finalizers":
			m.Finalizers = list(r, r.text)
		case "managedFields":
			m.ManagedFields = list(r, r.entry)
		}
	})
}

func (r *reader) owner() (o metav1.OwnerReference) {
	r.object(ownerMembers, func(name string) {
		switch name {
		case "apiVersion":
			o.APIVersion = r.text()
		case "kind":
			o.Kind = r.text()
		case "name":
			o.Name = r.text()
		case "uid":
			o.UID = types.UID(r.text())
		case "controller":
			o.Controller = r.boolean()
		case "blockOwnerDeletion":
			o.BlockOwnerDeletion = r.boolean()
		}
	})
	return o
}

func (r *reader) entry() (e metav1.ManagedFieldsEntry) {
	r.object(entryMembers, func(name string) {
		switch name {
		case "manager":
			e.Manager = r.text()
		case "operation":
			e.Operation = metav1.ManagedFieldsOperationType(r.text())
		case "apiVersion":
			e.APIVersion = r.text()
		case "time":
			e.Time = new(r.time())
		case "fieldsType":
			e.FieldsType = r.text()
		case "fieldsV1":
			e.FieldsV1 = &metav1.FieldsV1{}
			e.FieldsV1.SetRawBytes(r.raw()) // which copies
		case "subresource":
			e.Subresource = r.text()
		}
	})
	return e
}

// list decodes an array.
func list[T any](r *reader, one func() T) []T {
	all := []T{} // an empty array differs from none
	if !r.Open('[') {
		r.Fail("array expected")
		return nil
	}
	for first := true; r.More(first, ']'); first = false {
		all = append(all, one())
	}
	return all
}

// table decodes an object of strings.
func (r *reader) table() map[string]string {
	all := map[string]string{}
	if !r.Open('{') {
		r.Fail("object expected")
		return nil
	}
	for first := true; ; first = false {
		name, _, ok := r.Key(first)
		if !ok {
			return all
		}
		k := name.Value()
		all[k] = r.text()
	}
}

func (r *reader) text() string {
	if r.Peek() != '"' {
		r.Fail("string expected")
		return ""
	}
	s := r.ReadString()
	switch string(s.Raw) { // the usual values are not copied
	case string(metav1.ManagedFieldsOperationUpdate):
		return string(metav1.ManagedFieldsOperationUpdate)
	case string(metav1.ManagedFieldsOperationApply):
		return string(metav1.ManagedFieldsOperationApply)
	case fieldsV1:
		return fieldsV1
	case v1:
		return v1
	}
	return s.Value()
}

const (
	fieldsV1 = "FieldsV1"
	v1       = "v1"
)

func (r *reader) integer() int64 {
	r.Peek()
	n, err := strconv.ParseInt(string(r.Number()), 10, 64)
	if err != nil {
		r.Fail("integer expected")
	}
	return n
}

func (r *reader) boolean() *bool {
	r.Peek()
	is := r.Bool()
	return &is
}

// time decodes a time as metav1.Time does, in the local time zone.
func (r *reader) time() metav1.Time {
	t, err := time.Parse(time.RFC3339, r.text())
	if err != nil {
		r.Fail("time expected")
	}
	return metav1.Time{Time: t.Local()}
}

// raw skips an object with any members.
func (r *reader) raw() []byte {
	if r.Peek() != '{' {
		r.Fail("object expected")
		return nil
	}
	from := r.Offset()
	r.Skip()
	return r.From(from)
}
