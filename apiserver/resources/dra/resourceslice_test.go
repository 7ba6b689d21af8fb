package dra_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/dra"
)

// TestOrderOfMapErrors: the errors of a map's keys and values are sorted by the keys.
func TestOrderOfMapErrors(t *testing.T) {
	slice := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
		SharedCounters: []resourcev1.CounterSet{{Name: "c", Counters: map[string]resourcev1.Counter{
			"Z z": {}, "A a": {}, "Y y": {}, "ok": {}}}},
		Devices: []resourcev1.Device{{Name: "d", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"z": {}, "a": {}, "y": {}}}},
	}}
	want := []string{"spec.devices[0].attributes[a]", "spec.devices[0].attributes[y]", "spec.devices[0].attributes[z]",
		"spec.sharedCounters[0].counters A a", "spec.sharedCounters[0].counters Y y", "spec.sharedCounters[0].counters Z z"}
	for _, r := range dra.Resources(func() metav1.Time { return metav1.NewTime(time.Unix(0, 0)) }) {
		if r.Plural != "resourceslices" {
			continue
		}
		for range 20 {
			var got []string
			for _, err := range r.Strategy.Validate(slice, nil) {
				switch at := err.Field; {
				case at == "spec.sharedCounters[0].counters":
					got = append(got, at+" "+err.BadValue.(string))
				case strings.HasPrefix(at, "spec.devices[0].attributes["):
					got = append(got, at)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	}
}
