package dra

import (
	"encoding/json"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// The versions v1beta1 and v1 of resource.k8s.io have the same JSON except in two places. A request for a device is
// below "exactly" in v1 and in the request itself in v1beta1. A device's attributes are in the device itself in v1 and
// below "basic" in v1beta1 (K pkg/apis/resource/v1beta1/conversion.go).

func claimToV1(obj runtime.Object) (runtime.Object, error) {
	out, err := entry.Recast[resourcev1.ResourceClaim](obj)
	if in, ok := obj.(*resourcev1beta1.ResourceClaim); ok && err == nil {
		err = requestsToV1(in.Spec.Devices.Requests, out.(*resourcev1.ResourceClaim).Spec.Devices.Requests)
	}
	return out, err
}

func claimToV1beta1(obj runtime.Object) (runtime.Object, error) {
	out, err := entry.Recast[resourcev1beta1.ResourceClaim](obj)
	if in, ok := obj.(*resourcev1.ResourceClaim); ok && err == nil {
		err = requestsToV1beta1(in.Spec.Devices.Requests, out.(*resourcev1beta1.ResourceClaim).Spec.Devices.Requests)
	}
	return out, err
}

func templateToV1(obj runtime.Object) (runtime.Object, error) {
	out, err := entry.Recast[resourcev1.ResourceClaimTemplate](obj)
	if in, ok := obj.(*resourcev1beta1.ResourceClaimTemplate); ok && err == nil {
		err = requestsToV1(in.Spec.Spec.Devices.Requests, out.(*resourcev1.ResourceClaimTemplate).Spec.Spec.Devices.Requests)
	}
	return out, err
}

func templateToV1beta1(obj runtime.Object) (runtime.Object, error) {
	out, err := entry.Recast[resourcev1beta1.ResourceClaimTemplate](obj)
	if in, ok := obj.(*resourcev1.ResourceClaimTemplate); ok && err == nil {
		err = requestsToV1beta1(
			in.Spec.Spec.Devices.Requests, out.(*resourcev1beta1.ResourceClaimTemplate).Spec.Spec.Devices.Requests,
		)
	}
	return out, err
}

func sliceToV1(obj runtime.Object) (runtime.Object, error) {
	out, err := entry.Recast[resourcev1.ResourceSlice](obj)
	if in, ok := obj.(*resourcev1beta1.ResourceSlice); ok && err == nil {
		for i, d := range in.Spec.Devices {
			if d.Basic != nil && err == nil {
				err = copyFields(d.Basic, &out.(*resourcev1.ResourceSlice).Spec.Devices[i])
			}
		}
	}
	return out, err
}

func sliceToV1beta1(obj runtime.Object) (runtime.Object, error) {
	out, err := entry.Recast[resourcev1beta1.ResourceSlice](obj)
	if in, ok := obj.(*resourcev1.ResourceSlice); ok && err == nil {
		for i := range in.Spec.Devices {
			basic := &resourcev1beta1.BasicDevice{}
			out.(*resourcev1beta1.ResourceSlice).Spec.Devices[i].Basic = basic
			if err == nil {
				err = copyFields(&in.Spec.Devices[i], basic)
			}
		}
	}
	return out, err
}

// requestsToV1 converts what Recast can't. A request without alternatives is an exact one even if it is empty:
// v1beta1's defaults set fields before the conversion.
func requestsToV1(in []resourcev1beta1.DeviceRequest, out []resourcev1.DeviceRequest) error {
	for i := range in {
		r := &in[i]
		if len(r.FirstAvailable) > 0 && r.DeviceClassName == "" && r.Selectors == nil && r.AllocationMode == "" &&
			r.Count == 0 &&
			r.AdminAccess == nil && r.Tolerations == nil && r.Capacity == nil {
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

// copyFields sets the fields of to that from has with the same name.
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
