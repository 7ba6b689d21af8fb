package resources

import (
	"encoding/json"
	"fmt"

	apiextensionsinternal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/resources/defaults"
)

// Decode reads a value stored in r's collection and returns it in the served version. The value
// may be of the stored version or of the served one, whichever it says; values that say nothing
// are of the stored one.
func (r *Resource) Decode(stored []byte) (runtime.Object, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
	}
	if err := json.Unmarshal(stored, &head); err != nil {
		return nil, fmt.Errorf("decoding a stored %s: %w", r.Kind, err)
	}
	gvk := r.Stored
	if head.APIVersion == r.GroupVersion().String() {
		gvk = r.GroupVersionKind()
	}
	obj, err := Scheme().New(gvk)
	if err != nil {
		return nil, fmt.Errorf("decoding a stored %s: %w", r.Kind, err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(stored, obj); err != nil {
		return nil, fmt.Errorf("decoding a stored %s: %w", r.Kind, err)
	}
	if r.FromStored == nil || gvk == r.GroupVersionKind() {
		return obj, nil
	}
	if old, ok := obj.(*apiextensionsv1beta1.CustomResourceDefinition); ok {
		return ownedFromV1beta1(old) // nobody else has it
	}
	return r.FromStored(obj)
}

// typed stamps the kind of the version that obj has been converted to.
func typed(obj runtime.Object, gvk schema.GroupVersionKind) runtime.Object {
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj
}

func cannotConvert(obj runtime.Object, to string) error {
	return fmt.Errorf("converting %T to %s: unknown conversion", obj, to)
}

// recast converts between two versions of a kind that are written alike; T is the version to
// arrive at.
func recast[T any, P interface {
	*T
	runtime.Object
}](obj runtime.Object) (runtime.Object, error) {
	if _, ok := obj.(P); ok {
		return obj, nil
	}
	out := P(new(T))
	data, err := json.Marshal(obj)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return nil, fmt.Errorf("converting %T to %T: %w", obj, out, err)
	}
	gvks, _, err := Scheme().ObjectKinds(out)
	if err != nil {
		return nil, err
	}
	return typed(out, gvks[0]), nil
}

// crdToV1beta1 goes by way of apiextensions-apiserver's internal type, whose conversions share
// memory with what they convert; hence the copy.
func crdToV1beta1(obj runtime.Object) (runtime.Object, error) {
	switch crd := obj.(type) {
	case *apiextensionsv1beta1.CustomResourceDefinition:
		return crd, nil
	case *apiextensionsv1.CustomResourceDefinition:
		hub, out := &apiextensionsinternal.CustomResourceDefinition{}, &apiextensionsv1beta1.CustomResourceDefinition{}
		crd = crd.DeepCopy()
		if c := crd.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil && c.Webhook.ClientConfig.Service != nil {
			defaults.ServicePort(c.Webhook.ClientConfig.Service) // the internal type can't tell none from 0
		}
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, hub, nil); err != nil {
			return nil, err
		}
		if err := apiextensionsv1beta1.Convert_apiextensions_CustomResourceDefinition_To_v1beta1_CustomResourceDefinition(hub, out, nil); err != nil {
			return nil, err
		}
		return typed(out, apiextensionsv1beta1.SchemeGroupVersion.WithKind(crdKindName)), nil
	}
	return nil, cannotConvert(obj, "apiextensions.k8s.io/v1beta1")
}

func crdFromV1beta1(obj runtime.Object) (runtime.Object, error) {
	switch crd := obj.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return crd, nil
	case *apiextensionsv1beta1.CustomResourceDefinition:
		return ownedFromV1beta1(crd.DeepCopy())
	}
	return nil, cannotConvert(obj, "apiextensions.k8s.io/v1")
}

// ownedFromV1beta1 may share memory with what it converts.
func ownedFromV1beta1(in *apiextensionsv1beta1.CustomResourceDefinition) (runtime.Object, error) {
	hub, out := &apiextensionsinternal.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinition{}
	if err := apiextensionsv1beta1.Convert_v1beta1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(in, hub, nil); err != nil {
		return nil, err
	}
	if err := apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(hub, out, nil); err != nil {
		return nil, err
	}
	return typed(out, apiextensionsv1.SchemeGroupVersion.WithKind(crdKindName)), nil
}

const crdKindName = "CustomResourceDefinition"
