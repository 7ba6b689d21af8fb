package resources

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestRequestsOfV1beta1: where the versions of resource.k8s.io differ.
func TestRequestsOfV1beta1(t *testing.T) {
	beta := &resourcev1beta1.ResourceClaim{}
	beta.Spec.Devices.Requests = []resourcev1beta1.DeviceRequest{
		{Name: "exact", DeviceClassName: "c", Count: 3, AllocationMode: "ExactCount", Selectors: []resourcev1beta1.DeviceSelector{{CEL: &resourcev1beta1.CELDeviceSelector{Expression: "true"}}}},
		{Name: "first", FirstAvailable: []resourcev1beta1.DeviceSubRequest{{Name: "sub", DeviceClassName: "d", Count: 1}}},
		{Name: "both", DeviceClassName: "c", FirstAvailable: []resourcev1beta1.DeviceSubRequest{{Name: "sub", DeviceClassName: "d"}}},
		{Name: "neither"},
	}
	v1 := &resourcev1.ResourceClaim{}
	v1.Spec.Devices.Requests = []resourcev1.DeviceRequest{
		{Name: "exact", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "c", Count: 3, AllocationMode: "ExactCount",
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "true"}}}}},
		{Name: "first", FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "sub", DeviceClassName: "d", Count: 1}}},
		{Name: "both", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "c"}, FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "sub", DeviceClassName: "d"}}},
		{Name: "neither", Exactly: &resourcev1.ExactDeviceRequest{}},
	}
	v1.SetGroupVersionKind(resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"))
	beta.SetGroupVersionKind(resourcev1beta1.SchemeGroupVersion.WithKind("ResourceClaim"))
	for _, c := range []struct {
		in, want runtime.Object
		convert  func(runtime.Object) (runtime.Object, error)
	}{{beta, v1, claimToV1}, {v1, beta, claimToV1beta1}, {v1, v1, claimToV1}, {beta, beta, claimToV1beta1}} {
		got, err := c.convert(c.in.DeepCopyObject())
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%T to %T: %v\n%s", c.in, c.want, err, d)
		}
	}
}

// TestVersionsRoundTrip: what is stored, shown in another version and sent back, is what it was.
func TestVersionsRoundTrip(t *testing.T) {
	f := filler(int64(seed.Of(t))).Funcs(func(r *resourcev1.DeviceRequest, c randfill.Continue) {
		if c.FillNoCustom(r); r.Exactly == nil && len(r.FirstAvailable) == 0 {
			r.Exactly = &resourcev1.ExactDeviceRequest{} // without either it isn't valid, so never stored
		}
	}, func(s *resourcev1.ResourceSliceSpec, c randfill.Continue) {
		if c.FillNoCustom(s); s.AllNodes != nil {
			*s.AllNodes = true // v1beta1 can't tell false from nothing
		}
	})
	for _, r := range more(byDefault()) {
		if r.FromStored == nil {
			continue
		}
		for range 20 {
			stored, err := Scheme().New(r.Stored)
			if err != nil {
				t.Fatal(err)
			}
			f.Fill(stored)
			stored.GetObjectKind().SetGroupVersionKind(r.Stored)
			before := stored.DeepCopyObject()
			served, err := r.FromStored(stored)
			if err != nil {
				t.Fatal(err)
			}
			if !apiequality.Semantic.DeepEqual(before, stored) {
				t.Fatalf("%s changed its argument", r.GroupVersionKind())
			}
			if got := served.GetObjectKind().GroupVersionKind(); got != r.GroupVersionKind() || reflect.TypeOf(served) != reflect.TypeOf(r.New()) {
				t.Fatalf("%s became %s", r.Stored, got)
			}
			back, err := r.ToStored(served)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(stored, back); d != "" && !apiequality.Semantic.DeepEqual(stored, back) {
				t.Fatalf("%s by way of %s:\n%s", r.Stored, r.GroupVersion(), d)
			}
		}
	}
}
