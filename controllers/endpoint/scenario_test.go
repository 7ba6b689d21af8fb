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

// TestScenarios runs testdata/service.
func TestScenarios(t *testing.T) {
	workloadtest.Scenarios(t, "testdata/service", workloadtest.Options{
		Controllers: []workload.Controller{Slices(), Endpoints()}, Print: show, Check: check,
	})
}

// TestZoneOfNodeCausesPass: if a node's zone is added, changed or removed, the services of its pods get a pass. Other
// changes of a node cause none.
func TestZoneOfNodeCausesPass(t *testing.T) {
	w := workloadtest.New()
	for name, node := range map[string]string{"here": "n", "there": "other"} {
		meta := metav1.ObjectMeta{Namespace: "a", Name: name, Labels: map[string]string{"app": name}}
		w.Put(&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: meta.Labels}})
		w.Put(&corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: node}})
	}
	in := func(zone string) *workload.Meta {
		return &workload.Meta{Key: workload.Key{Name: "n"}, Labels: map[string]string{corev1.LabelTopologyZone: zone}}
	}
	for _, c := range []struct {
		old, now *workload.Meta
		want     string
	}{
		{nil, in(""), "[]"}, {in("x"), in("x"), "[]"},
		{nil, in("x"), "[a/here]"}, {in("x"), in("y"), "[a/here]"}, {in("y"), nil, "[a/here]"},
	} {
		got := fmt.Sprint(Slices().Wake(w, workload.Change{Resource: workload.Nodes, Old: c.old, New: c.now}))
		if got != c.want {
			t.Errorf("%v, then %v: passes over %s, want %s", c.old, c.now, got, c.want)
		}
	}
}

// check: no pod is in two slices of a family, and no slice has too many.
func check(w *workloadtest.World) error {
	seen := map[string]string{}
	for _, e := range workload.All[*discoveryv1.EndpointSlice](w, "") {
		if len(e.Endpoints) > mostEndpoints {
			return fmt.Errorf("%s has %d endpoints", e.Name, len(e.Endpoints))
		}
		for _, p := range e.Endpoints {
			key := fmt.Sprint(e.Labels[discoveryv1.LabelServiceName], e.AddressType, p.TargetRef.UID)
			if other := seen[key]; other != "" {
				return fmt.Errorf("%s is in %s and %s", p.TargetRef.Name, other, e.Name)
			}
			seen[key] = e.Name
		}
	}
	return nil
}

// show prints what matters of an object.
func show(o workload.Object) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %v", workload.Of(o).Kind, o.GetName(), o.GetLabels())
	if at := o.GetAnnotations()[corev1.EndpointsLastChangeTriggerTime]; at != "" {
		fmt.Fprintf(&b, " since %s", at)
	}
	switch o := o.(type) {
	case *discoveryv1.EndpointSlice:
		fmt.Fprintf(&b, " %s %v", o.AddressType, portKey(o.Ports))
		if len(o.Endpoints) > 5 {
			fmt.Fprintf(&b, " %d endpoints", len(o.Endpoints))
			break
		}
		for _, e := range o.Endpoints {
			fmt.Fprintf(
				&b, "\n  %v %s ready=%v serving=%v terminating=%v", e.Addresses, e.TargetRef.Name, *e.Conditions.Ready,
				*e.Conditions.Serving, *e.Conditions.Terminating)
			if e.NodeName != nil {
				fmt.Fprintf(&b, " on %s", *e.NodeName)
			}
			if e.Zone != nil {
				fmt.Fprintf(&b, " in %s", *e.Zone)
			}
			if e.Hostname != nil {
				fmt.Fprintf(&b, " called %s", *e.Hostname)
			}
			if e.Hints != nil {
				fmt.Fprintf(&b, " for %v %v", e.Hints.ForZones, e.Hints.ForNodes)
			}
		}
	case *corev1.Endpoints:
		for _, s := range o.Subsets {
			fmt.Fprintf(&b, "\n ")
			for _, a := range s.Addresses {
				fmt.Fprintf(&b, " %s", a.IP)
			}
			for _, a := range s.NotReadyAddresses {
				fmt.Fprintf(&b, " (%s)", a.IP)
			}
			for _, p := range s.Ports {
				fmt.Fprintf(&b, " %s:%d/%s", p.Name, p.Port, p.Protocol)
			}
		}
	}
	return b.String()
}
