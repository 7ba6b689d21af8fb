package dra

import (
	"encoding/json"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// The versions v1beta1 and v1 of resource.k8s.io have the same JSON except in two places. The fields of a device
// request are below "exactly" in v1, and in the request itself in v1beta1. The attributes of a device are in the device
// itself in v1, and below "basic" in v1beta1 (K pkg/apis/resource/v1beta1/conversion.go).

var (
	claimToV1 = converted(func(in *resourcev1beta1.ResourceClaim, out *resourcev1.ResourceClaim) error {
		return requestsToV1(in.Spec.Devices.Requests, out.Spec.Devices.Requests)
	})
	claimToV1beta1 = converted(func(in *resourcev1.ResourceClaim, out *resourcev1beta1.ResourceClaim) error {
		return requestsToV1beta1(in.Spec.Devices.Requests, out.Spec.Devices.Requests)
	})
	templateToV1 = converted(func(in *resourcev1beta1.ResourceClaimTemplate, out *resourcev1.ResourceClaimTemplate) error {
		return requestsToV1(in.Spec.Spec.Devices.Requests, out.Spec.Spec.Devices.Requests)
	})
	templateToV1beta1 = converted(
		func(in *resourcev1.ResourceClaimTemplate, out *resourcev1beta1.ResourceClaimTemplate) error {
			return requestsToV1beta1(in.Spec.Spec.Devices.Requests, out.Spec.Spec.Devices.Requests)
		})
	sliceToV1 = converted(func(in *resourcev1beta1.ResourceSlice, out *resourcev1.ResourceSlice) (err error) {
		for i, d := range in.Spec.Devices {
			if d.Basic != nil && err == nil {
				err = copyFields(d.Basic, &out.Spec.Devices[i])
			}
		}
		return err
	})
	sliceToV1beta1 = converted(func(in *resourcev1.ResourceSlice, out *resourcev1beta1.ResourceSlice) (err error) {
		for i := range in.Spec.Devices {
			out.Spec.Devices[i].Basic = &resourcev1beta1.BasicDevice{}
			if err == nil {
				err = copyFields(&in.Spec.Devices[i], out.Spec.Devices[i].Basic)
			}
		}
		return err
	})
)

// converted returns a conversion that calls Recast, and then converts the fields that Recast can't convert.
func converted[In, Out any, P interface {
	*Out
	runtime.Object
}](others func(in *In, out *Out) error) func(runtime.Object) (runtime.Object, error) {
	return func(obj runtime.Object) (runtime.Object, error) {
		out, err := entry.Recast[Out, P](obj)
		if in, ok := any(obj).(*In); ok && err == nil {
			err = others(in, (*Out)(out.(P)))
		}
		return out, err
	}
}

// requestsToV1 converts the requests, which Recast can't convert. A request without alternatives is an exact one even
// if it is empty, because v1beta1's defaults set fields before the conversion.
func requestsToV1(in []resourcev1beta1.DeviceRequest, out []resourcev1.DeviceRequest) error {
	for i := range in {
		r := &in[i]
		if len(r.FirstAvailable) > 0 && r.DeviceClassName == "" && r.Selectors == nil && r.AllocationMode == "" &&
			r.Count == 0 && r.AdminAccess == nil && r.Tolerations == nil && r.Capacity == nil {
			continue
		}
		out[i].Exactly = &resourcev1.ExactDeviceRequest{}
		if err := copyFields(r, out[i].Exactly); err != nil {
			return err
		}
	}
	return nil
}

func requestsToV1beta1(in []resourcev1.DeviceRequest, out []resourcev1beta1.DeviceRequest) error {
	for i := range in {
		if in[i].Exactly == nil {
			continue
		}
		if err := copyFields(in[i].Exactly, &out[i]); err != nil {
			return err
		}
	}
	return nil
}

// copyFields copies the fields of from to the fields of to with the same names.
func copyFields(from, to any) error {
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		return fmt.Errorf("converting %T to %T: %w", from, to, err)
	}
	return nil
}
