package objectmeta

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// Decode reads metadata into m. It reports false, and leaves m alone, if that isn't written as it is stored; then a
// decoder that knows all of JSON must read it.
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

// reader fails at the first thing that isn't as it is stored. Then what it has returned means nothing.
type reader struct{ jsonscan.Scanner }

// The members of metadata, owner references and entries of managedFields, in the order in which they are written.
var (
	metaMembers = []string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences",
		"finalizers", "managedFields"}
	ownerMembers = []string{"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}
	entryMembers = []string{"manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"}
)

// object calls read before each member's value. It fails if a member isn't one of names, or doesn't come after those
// before it in their order: twice is once too often.
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

// list reads an array.
func list[T any](r *reader, one func() T) []T {
	all := []T{} // an empty array isn't none
	if !r.Open('[') {
		r.Fail("array expected")
		return nil
	}
	for first := true; r.More(first, ']'); first = false {
		all = append(all, one())
	}
	return all
}

// table reads an object of strings.
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
	switch string(s.Raw) { // what nearly every entry has isn't copied
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

// time is read as metav1.Time reads it, in the zone of this machine.
func (r *reader) time() metav1.Time {
	t, err := time.Parse(time.RFC3339, r.text())
	if err != nil {
		r.Fail("time expected")
	}
	return metav1.Time{Time: t.Local()}
}

// raw passes an object of whatever members.
func (r *reader) raw() []byte {
	if r.Peek() != '{' {
		r.Fail("object expected")
		return nil
	}
	from := r.Offset()
	r.Skip()
	return r.From(from)
}
