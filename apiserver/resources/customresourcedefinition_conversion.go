package resources

import (
	apiextensionsinternal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// crdToV1beta1 converts through apiextensions-apiserver's internal type. It copies the object first, because these
// conversions share memory.
func crdToV1beta1(obj runtime.Object) (runtime.Object, error) {
	crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return nil, entry.CannotConvert(obj, "apiextensions.k8s.io/v1beta1")
	}
	hub, out := &apiextensionsinternal.CustomResourceDefinition{}, &apiextensionsv1beta1.CustomResourceDefinition{}
	crd = crd.DeepCopy()
	if c := crd.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil &&
		c.Webhook.ClientConfig.Service != nil {
		servicePort(c.Webhook.ClientConfig.Service) // the internal type does not distinguish a missing port from 0
	}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(
		crd, hub, nil,
	); err != nil {
		return nil, err
	}
	if err := apiextensionsv1beta1.Convert_apiextensions_CustomResourceDefinition_To_v1beta1_CustomResourceDefinition(
		hub, out, nil,
	); err != nil {
		return nil, err
	}
	return entry.Typed(out, apiextensionsv1beta1.SchemeGroupVersion.WithKind(crdKindName)), nil
}

// crdFromV1beta1 converts to v1. The result may share memory with the argument.
func crdFromV1beta1(obj runtime.Object) (runtime.Object, error) {
	in, ok := obj.(*apiextensionsv1beta1.CustomResourceDefinition)
	if !ok {
		return nil, entry.CannotConvert(obj, "apiextensions.k8s.io/v1")
	}
	hub, out := &apiextensionsinternal.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinition{}
	if err := apiextensionsv1beta1.Convert_v1beta1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(
		in, hub, nil,
	); err != nil {
		return nil, err
	}
	if err := apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(
		hub, out, nil,
	); err != nil {
		return nil, err
	}
	return entry.Typed(out, apiextensionsv1.SchemeGroupVersion.WithKind(crdKindName)), nil
}

const crdKindName = "CustomResourceDefinition"
