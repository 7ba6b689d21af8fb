package resources

import (
	apiextensionsinternal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var crdScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	install.Install(s)
	return s
}()

// convertCRD returns a function that converts through apiextensions-apiserver's internal type. It copies the object
// first, because these conversions share memory.
func convertCRD(to schema.GroupVersion) func(runtime.Object) (runtime.Object, error) {
	return func(obj runtime.Object) (runtime.Object, error) {
		hub, err := crdScheme.ConvertToVersion(obj, apiextensionsinternal.SchemeGroupVersion)
		if err != nil {
			return nil, err
		}
		return crdScheme.UnsafeConvertToVersion(hub, to)
	}
}

func crdToV1beta1(obj runtime.Object) (runtime.Object, error) {
	if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		crd = crd.DeepCopy()
		defaultPort(crd) // the internal type does not distinguish a missing port from 0
		obj = crd
	}
	return convertCRD(apiextensionsv1beta1.SchemeGroupVersion)(obj)
}
