package apply

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"

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
	res := c.table.Kind(gvk)
	if res == nil && gvk == scaleKind {
		res = scaleResource
	}
	if res == nil || res.Custom || c.core != (gvk.Group == "") && gvk != scaleKind {
		return nil, runtime.NewNotRegisteredErrForKind("managed fields", gvk)
	}
	t, err := c.kinds.get(gvk, res.New)
	if err != nil {
		return nil, err
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return t.FromUnstructured(u.UnstructuredContent(), opts...)
	}
	return t.FromStructured(obj, opts...)
}

// TypedToObject puts the conversion off until somebody wants more than the kind: what wants no
// more asks for every entry of managedFields.
func (c *converter) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return &deferred{v.AsValue()}, nil
}

// deferred is a value that is to become an object.
type deferred struct{ value value.Value }

func (d *deferred) GetObjectKind() schema.ObjectKind {
	m := d.value.AsMap()
	return schema.FromAPIVersionAndKind(text(m, "apiVersion"), text(m, "kind")).kind()
}
