package dra

import (
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	conversions "k8s.io/dynamic-resource-allocation/api/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// scheme converts objects of resource.k8s.io between v1beta1 and v1. The versions have the same JSON except in two
// places. The fields of a device request are below "exactly" in v1, and in the request itself in v1beta1. The
// attributes of a device are in the device itself in v1, and below "basic" in v1beta1.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(resourcev1.AddToScheme(s))
	utilruntime.Must(conversions.AddToScheme(s))
	return s
}()

// v1beta1 returns the version v1beta1 of a kind.
func v1beta1(empty func() runtime.Object, fieldError string) entry.Version {
	return entry.Version{GroupVersion: resourcev1beta1.SchemeGroupVersion, New: empty, FieldError: fieldError,
		ToStored: toV1, FromStored: toV1beta1}
}

func toV1(obj runtime.Object) (runtime.Object, error) {
	out, err := convert(obj, resourcev1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	switch obj.(type) {
	case *resourcev1beta1.ResourceClaim:
		exactly(out.(*resourcev1.ResourceClaim).Spec.Devices.Requests)
	case *resourcev1beta1.ResourceClaimTemplate:
		exactly(out.(*resourcev1.ResourceClaimTemplate).Spec.Spec.Devices.Requests)
	}
	return out, nil
}

// exactly makes exact requests of those without alternatives, even of an empty one: in upstream, v1beta1's defaults set
// fields before the conversion.
func exactly(requests []resourcev1.DeviceRequest) {
	for i := range requests {
		if r := &requests[i]; r.Exactly == nil && len(r.FirstAvailable) == 0 {
			r.Exactly = &resourcev1.ExactDeviceRequest{}
		}
	}
}

func toV1beta1(obj runtime.Object) (runtime.Object, error) {
	return convert(obj, resourcev1beta1.SchemeGroupVersion)
}

// convert returns a converted copy, or the object itself if it has the version.
func convert(obj runtime.Object, to schema.GroupVersion) (runtime.Object, error) {
	if kinds, _, err := scheme.ObjectKinds(obj); err == nil && kinds[0].GroupVersion() == to {
		return obj, nil
	}
	return scheme.ConvertToVersion(obj, to)
}
