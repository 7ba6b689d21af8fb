package resources

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/randfill"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestVersionsRoundTrip: a stored object that is converted to another version and back is unchanged.
func TestVersionsRoundTrip(t *testing.T) {
	f := filler(int64(seed.Of(t))).Funcs(func(r *resourcev1.DeviceRequest, c randfill.Continue) {
		if c.FillNoCustom(r); r.Exactly == nil && len(r.FirstAvailable) == 0 {
			r.Exactly = &resourcev1.ExactDeviceRequest{} // without either, a request is not valid
		}
	}, func(s *resourcev1.ResourceSliceSpec, c randfill.Continue) {
		if c.FillNoCustom(s); s.AllNodes != nil {
			*s.AllNodes = true // in v1beta1, false equals a missing value
		}
	})
	for _, r := range notByDefault() {
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
			if got := served.GetObjectKind().GroupVersionKind(); got != r.GroupVersionKind() ||
				reflect.TypeOf(served) != reflect.TypeOf(r.New()) {
				t.Fatalf("%s became %s", r.Stored, got)
			}
			back, err := r.ToStored(served)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(stored, back); d != "" && !apiequality.Semantic.DeepEqual(stored, back) {
				t.Fatalf("%s converted to %s and back:\n%s", r.Stored, r.GroupVersion(), d)
			}
		}
	}
}

// notByDefault returns the entries that only --runtime-config enables.
func notByDefault() (out []*Resource) {
	for _, r := range Every(nil) {
		if r.Off {
			out = append(out, r)
		}
	}
	return out
}
