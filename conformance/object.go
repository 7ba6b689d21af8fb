package conformance

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// Object is an object of the server under test, with its kind.
type Object struct {
	unstructured.Unstructured
	Of Kind
}

// newObject returns an object that has not been created yet.
func newObject(k Kind, namespace, name string, options ...Option) *Object {
	o := &Object{Of: k}
	o.Object = map[string]any{}
	if k.Fields != "" {
		if err := json.Unmarshal([]byte(k.Fields), &o.Object); err != nil {
			panic(fmt.Sprintf("the fields of %s: %v", k.Name, err))
		}
	}
	o.SetAPIVersion(k.APIVersion())
	o.SetKind(k.Name)
	o.SetName(name)
	if !k.ClusterScoped {
		o.SetNamespace(namespace)
	}
	for _, with := range options {
		with(o)
	}
	return o
}

// Path returns the object's path.
func (o *Object) Path() string { return o.Of.Path(o.GetNamespace(), o.GetName()) }

// String returns the object's name for messages.
func (o *Object) String() string { return strings.ToLower(o.Of.Name) + " " + o.GetName() }

// YAML returns the object without managedFields, or an empty string if it is nil.
func (o *Object) YAML() string {
	if o == nil {
		return ""
	}
	short := o.DeepCopy()
	short.SetManagedFields(nil)
	b, err := yaml.Marshal(short.Object)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// state describes everything that conditions depend on, in one line.
func (o *Object) state() string {
	if o == nil {
		return "it is gone"
	}
	s := "it is there"
	if t := o.GetDeletionTimestamp(); t != nil {
		s += ", being deleted since " + t.UTC().Format("15:04:05")
	}
	if f := o.GetFinalizers(); len(f) > 0 {
		s += ", with the finalizers " + strings.Join(f, ", ")
	}
	var owners []string
	for _, r := range o.GetOwnerReferences() {
		owners = append(owners, r.Kind+" "+r.Name)
	}
	if len(owners) > 0 {
		s += ", owned by " + strings.Join(owners, ", ")
	}
	return s
}

// Option changes a new object.
type Option func(*Object)

// Hold is the finalizer that cases use to block the removal of a deleted object.
const Hold = "conformance.example.com/hold"

// Held gives the object the finalizer Hold.
func Held(o *Object) { Finalized(Hold)(o) }

// Finalized adds these finalizers to the object.
func Finalized(names ...string) Option {
	return func(o *Object) { o.SetFinalizers(append(o.GetFinalizers(), names...)) }
}

// Labelled adds a label to the object.
func Labelled(key, value string) Option {
	return func(o *Object) {
		_ = unstructured.SetNestedField(o.Object, value, "metadata", "labels", key) // metadata are maps
	}
}

// Ref returns a reference to an owner. It has no blockOwnerDeletion unless an edit sets it.
func Ref(owner *Object, edits ...func(*metav1.OwnerReference)) metav1.OwnerReference {
	r := metav1.OwnerReference{
		APIVersion: owner.Of.APIVersion(), Kind: owner.Of.Name, Name: owner.GetName(), UID: owner.GetUID(),
	}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

// Absent returns a reference to an object of the kind that never existed. Each call returns another UID.
func Absent(k Kind) metav1.OwnerReference {
	uid := uuid.NewString()
	return metav1.OwnerReference{APIVersion: k.APIVersion(), Kind: k.Name, Name: "never-" + uid[:8], UID: types.UID(uid)}
}

// Blocks sets blockOwnerDeletion.
func Blocks(block bool) func(*metav1.OwnerReference) {
	return func(r *metav1.OwnerReference) { r.BlockOwnerDeletion = &block }
}

// By adds a reference without blockOwnerDeletion.
func By(owner *Object, edits ...func(*metav1.OwnerReference)) Option {
	return Refs(Ref(owner, edits...))
}

// Blocking adds a reference with blockOwnerDeletion true.
func Blocking(owner *Object, edits ...func(*metav1.OwnerReference)) Option {
	return By(owner, append(edits, Blocks(true))...)
}

// NonBlocking adds a reference with blockOwnerDeletion false.
func NonBlocking(owner *Object) Option { return By(owner, Blocks(false)) }

// Refs adds references.
func Refs(refs ...metav1.OwnerReference) Option {
	return func(o *Object) { o.SetOwnerReferences(append(o.GetOwnerReferences(), refs...)) }
}
