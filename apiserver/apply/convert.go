package apply

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

// converter sees built-in objects by the schema of their kind.
type converter struct {
	kinds *kinds
	table *resources.Types
	// core says that the resource is of the core group. kube-apiserver installs that apart from all
	// others, and a field manager of one side knows no kind of the other: entries of events.k8s.io
	// are lost when an event is written as v1, and the other way round (AS
	// pkg/server/genericapiserver.go:InstallLegacyAPIGroup, InstallAPIGroups).
	core bool
}

var _ managedfields.TypeConverter = (*converter)(nil)

// ObjectToTyped looks the kind up that the object says to be.
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

// sample returns what makes an object of a kind, nil for kinds that are unknown here.
func (c *converter) sample(gvk schema.GroupVersionKind) func() runtime.Object {
	if gvk == scaleKind {
		return func() runtime.Object { return &autoscalingv1.Scale{} }
	}
	res := c.table.Kind(gvk)
	if res == nil || res.Custom || c.core != (gvk.Group == "") {
		return nil
	}
	return res.New
}

// TypedToObject puts the conversion off until more than the kind is wanted: structured-merge-
// diff asks for no more with every entry of managedFields that has the version at hand.
func (c *converter) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return &deferred{v.AsValue()}, nil
}

// deferred is a value that is to become an object.
type deferred struct{ value value.Value }

// GetObjectKind reads the kind from the value.
func (d *deferred) GetObjectKind() schema.ObjectKind {
	m := d.value.AsMap()
	return &metav1.TypeMeta{APIVersion: text(m, "apiVersion"), Kind: text(m, "kind")}
}

// DeepCopyObject returns the object itself.
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
