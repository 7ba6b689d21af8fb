package endpoint

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestEndpointsAreMirroredToSlices runs testdata/mirror.
func TestEndpointsAreMirroredToSlices(t *testing.T) {
	workloadtest.Scenarios(t, "testdata/mirror", workloadtest.Options{Controllers: []workload.Controller{Mirror()},
		Print: func(o workload.Object) string {
			s, ok := o.(*discoveryv1.EndpointSlice)
			if !ok {
				return o.GetName()
			}
			var b strings.Builder
			fmt.Fprintf(
				&b, "%s of %s %s %v %v %s", s.Name, s.OwnerReferences[0].Kind, s.OwnerReferences[0].UID, s.Labels, s.Annotations,
				sliceKey(s))
			for _, e := range s.Endpoints {
				fmt.Fprintf(&b, "\n  %v ready=%v", e.Addresses, *e.Conditions.Ready)
			}
			return b.String()
		}})
}

// TestMirrorMost: an event reports the addresses of a subset beyond the limit, which are not mirrored. The slice is
// deleted with the Endpoints, even without a garbage collector.
func TestMirrorMost(t *testing.T) {
	w := workloadtest.New()
	meta := metav1.ObjectMeta{Namespace: "a", Name: "s"}
	subset := corev1.EndpointSubset{Ports: []corev1.EndpointPort{{Port: 80}}}
	for i := range mostAddresses + 3 {
		subset.NotReadyAddresses = append(subset.NotReadyAddresses, corev1.EndpointAddress{
			IP: fmt.Sprintf("10.0.%d.%d", i>>8, i&255),
		})
	}
	w.Put(&corev1.Service{ObjectMeta: meta})
	e := &corev1.Endpoints{ObjectMeta: meta, Subsets: []corev1.EndpointSubset{subset}}
	w.Put(e)
	key := workload.Key{Namespace: "a", Name: "s"}
	out := w.Pass(Mirror(), key)
	if want := "Warning TooManyAddressesToMirror: A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 3 addresses were skipped"; !strings.Contains(
		out, want,
	) {
		t.Errorf("the pass: %s", out)
	}
	list := workload.All[*discoveryv1.EndpointSlice](w, "a")
	if len(list) != 1 || len(list[0].Endpoints) != mostAddresses || *list[0].Endpoints[0].Conditions.Ready {
		t.Errorf("%d slices", len(list))
	}
	w.Remove(e)
	w.Pass(Mirror(), key)
	if list := workload.All[*discoveryv1.EndpointSlice](w, "a"); len(list) != 0 {
		t.Errorf("%d slices are left", len(list))
	}
}
