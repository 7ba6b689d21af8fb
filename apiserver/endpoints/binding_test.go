package endpoints_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// A binding changes the pod as BindingREST.setPodNodeAndMetadata does: it sets the condition PodScheduled and copies
// labels and annotations; generation and managedFields are unchanged.
func TestBinding(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const pods = "/api/v1/namespaces/default/pods"
	s.Do(
		"POST", pods, `{"metadata":{"name":"x","labels":{"a":"1","b":"1"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`,
	)
	if a := s.Do(
		"PATCH", pods+"/x/status",
		`{"status":{"nominatedNodeName":"n","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no node"}]}}`,
		"Content-Type", "application/merge-patch+json",
	); a.Code != 200 {
		t.Fatalf("status: %d %s", a.Code, a.Body)
	}
	pod := func() (p corev1.Pod) {
		if err := json.Unmarshal(s.Do("GET", pods+"/x", nil).Body, &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	before := pod()
	if a := s.Do(
		"POST", pods+"/x/binding",
		`{"metadata":{"name":"x","labels":{"b":"2"},"annotations":{"c":"3"}},"target":{"name":"n"}}`,
	); a.Code != 201 {
		t.Fatalf("binding: %d %s", a.Code, a.Body)
	}
	after := pod()
	if after.Spec.NodeName != "n" || after.Labels["a"] != "1" || after.Labels["b"] != "2" ||
		after.Annotations["c"] != "3" {
		t.Errorf("bound pod is on %q with labels %v and annotations %v", after.Spec.NodeName, after.Labels, after.Annotations)
	}
	if after.Generation != before.Generation || len(after.ManagedFields) != len(before.ManagedFields) {
		t.Errorf(
			"generation went from %d to %d, managers from %d to %d", before.Generation, after.Generation,
			len(before.ManagedFields), len(after.ManagedFields),
		)
	}
	if after.Status.NominatedNodeName != "" || len(after.Status.Conditions) != 1 {
		t.Fatalf("status is %+v", after.Status)
	}
	if c := after.Status.Conditions[0]; c.Type != corev1.PodScheduled || c.Status != corev1.ConditionTrue ||
		c.Reason != "" || c.Message != "" || c.LastTransitionTime.IsZero() {
		t.Errorf("condition is %+v", c)
	}
}
