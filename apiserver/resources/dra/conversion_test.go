package dra

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestRequestsOfV1beta1AreConverted: the fields in which the versions of resource.k8s.io differ are converted.
func TestRequestsOfV1beta1AreConverted(t *testing.T) {
	beta := &resourcev1beta1.ResourceClaim{}
	beta.Spec.Devices.Requests = []resourcev1beta1.DeviceRequest{
		{
			Name: "exact", DeviceClassName: "c", Count: 3, AllocationMode: "ExactCount",
			Selectors: []resourcev1beta1.DeviceSelector{{CEL: &resourcev1beta1.CELDeviceSelector{Expression: "true"}}},
		},
		{Name: "first", FirstAvailable: []resourcev1beta1.DeviceSubRequest{{Name: "sub", DeviceClassName: "d", Count: 1}}},
		{
			Name: "both", DeviceClassName: "c",
			FirstAvailable: []resourcev1beta1.DeviceSubRequest{{Name: "sub", DeviceClassName: "d"}},
		},
		{Name: "neither"},
	}
	v1 := &resourcev1.ResourceClaim{}
	v1.Spec.Devices.Requests = []resourcev1.DeviceRequest{
		{Name: "exact", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "c", Count: 3, AllocationMode: "ExactCount",
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "true"}}}}},
		{Name: "first", FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "sub", DeviceClassName: "d", Count: 1}}},
		{
			Name: "both", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "c"},
			FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "sub", DeviceClassName: "d"}},
		},
		{Name: "neither", Exactly: &resourcev1.ExactDeviceRequest{}},
	}
	v1.SetGroupVersionKind(resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"))
	beta.SetGroupVersionKind(resourcev1beta1.SchemeGroupVersion.WithKind("ResourceClaim"))
	for _, c := range []struct {
		in, want runtime.Object
		convert  func(runtime.Object) (runtime.Object, error)
	}{{beta, v1, toV1}, {v1, beta, toV1beta1}, {v1, v1, toV1}, {beta, beta, toV1beta1}} {
		got, err := c.convert(c.in.DeepCopyObject())
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%T to %T: %v\n%s", c.in, c.want, err, d)
		}
	}
}
