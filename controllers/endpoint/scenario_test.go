package endpoint

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs testdata/service.
func TestScenarios(t *testing.T) {
	workloadtest.Scenarios(t, "testdata/service", workloadtest.Options{
		Controllers: []workload.Controller{Slices(), Endpoints()}, Print: show, Check: check,
	})
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
				*e.Conditions.Serving, *e.Conditions.Terminating,
			)
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
