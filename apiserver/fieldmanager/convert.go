package fieldmanager

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// converter converts built-in objects to typed values, by the schemas of their kinds.
type converter struct {
	kinds *kinds
	table *resources.Types
	// core reports whether the resource is in the core group. kube-apiserver installs that group separately, so its
	// field managers and those of other groups don't share kinds, and entries of events.k8s.io are lost when an event
	// is written as v1 (AS pkg/server/genericapiserver.go:InstallLegacyAPIGroup, InstallAPIGroups).
	core bool
}

var _ managedfields.TypeConverter = (*converter)(nil)

// ObjectToTyped converts an object by the schema of its kind.
func (c *converter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	sample := c.sample(gvk)
	if sample == nil {
		return nil, runtime.NewNotRegisteredErrForKind("managed fields", gvk)
	}
	t, err := c.kinds.get(gvk, sample)
	if err != nil {
		return nil, err
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return t.FromUnstructured(u.UnstructuredContent(), opts...)
	}
	return t.FromStructured(obj, opts...)
}

// sample returns a constructor for the kind's objects, or nil for unknown kinds.
func (c *converter) sample(gvk schema.GroupVersionKind) func() runtime.Object {
	if gvk == resources.ScaleKind {
		return func() runtime.Object { return &autoscalingv1.Scale{} }
	}
	res := c.table.Kind(gvk)
	if res == nil || res.Custom || c.core != (gvk.Group == "") {
		return nil
	}
	return res.New
}

// TypedToObject returns a deferred object: for entries of managedFields in the current version, structured-merge-diff
// needs only the kind.
func (c *converter) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return &deferred{v.AsValue()}, nil
}

// whole is a converter that does not defer the conversion.
type whole struct{ converter }

// TypedToObject returns an unstructured object.
func (w *whole) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return (&deferred{v.AsValue()}).object(), nil
}

// deferred is a value that is converted to an object when it is needed.
type deferred struct{ value value.Value }

// GetObjectKind returns the kind in the value.
func (d *deferred) GetObjectKind() schema.ObjectKind {
	m := d.value.AsMap()
	return &metav1.TypeMeta{APIVersion: text(m, "apiVersion"), Kind: text(m, "kind")}
}

// DeepCopyObject returns the object without copying it.
func (d *deferred) DeepCopyObject() runtime.Object { return d.object() }

func (d *deferred) object() *unstructured.Unstructured {
	content, _ := d.value.Unstructured().(map[string]any)
	return &unstructured.Unstructured{Object: content}
}

func text(m value.Map, key string) string {
	v, ok := m.Get(key)
	if !ok || !v.IsString() {
		return ""
	}
	return v.AsString()
}
