package loopback_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/controllers/statefulset"
)

const statefulsets = "/apis/apps/v1/namespaces/default/statefulsets"

// ready has a pod run, as a kubelet does.
func ready(t *testing.T, s *apiservertest.Server, name string) {
	t.Helper()
	do(t, s, "PATCH", pods+"/"+name+
		"/status",
		`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
}

// I-05: pods come one after the other, with claims that refer to the set, and are replaced when the template changes.
func TestStatefulSet(t *testing.T) {
	s := owning(t, nil, statefulset.New(statefulset.Options{}))
	w, made := s.Watch(statefulsets+"?watch=true"), s.Watch(pods+"?watch=true")
	do(t, s, "POST", statefulsets,
		`{"metadata":{"name":"s"},"spec":{"replicas":2,"serviceName":"svc","selector":{"matchLabels":{"app":"s"}},
		"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Retain"},
		"template":{"metadata":{"labels":{"app":"s"}},"spec":{"containers":[{"name":"c","image":"one"}]}},
		"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`)
	for i := range 2 {
		p, name := added(t, made, 1)[0], fmt.Sprintf("s-%d", i)
		host, _, _ := unstructured.NestedString(p.Object, "spec", "hostname")
		if p.GetName() != name || p.GetLabels()["apps.kubernetes.io/pod-index"] != fmt.Sprint(i) || host != name ||
			p.GetGenerateName() != "s-" {
			t.Errorf(
				"pod %d: %s, generated from %s, labels %v, host %s", i, p.GetName(), p.GetGenerateName(), p.GetLabels(), host,
			)
		}
		refs := s.Do("GET", claims+"/data-"+name, nil).Object().GetOwnerReferences()
		if len(refs) != 1 || refs[0].Kind != "StatefulSet" || refs[0].Name != "s" || !*refs[0].Controller ||
			!*refs[0].BlockOwnerDeletion {
			t.Errorf("the claim of %s refers to %+v", name, refs)
		}
		ready(t, s, name)
	}
	number := func(e apiservertest.Event, field string) float64 {
		n, _, _ := unstructured.NestedNumberAsFloat64(e.Object.Object, "status", field)
		return n
	}
	eventually(t, w, "all to be available", func(e apiservertest.Event) bool {
		return number(e, "availableReplicas") == 2
	})
	do(
		t, s, "PATCH", statefulsets+"/s", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"two"}]}}}}`,
		"Content-Type", "application/strategic-merge-patch+json",
	)
	for _, name := range []string{"s-1", "s-0"} {
		p := added(t, made, 1)[0]
		if p.GetName() != name {
			t.Errorf("%s is replaced, not %s", p.GetName(), name)
		}
		ready(t, s, name)
	}
	eventually(t, w, "the update to be complete", func(e apiservertest.Event) bool {
		current, _, _ := unstructured.NestedString(e.Object.Object, "status", "currentRevision")
		update, _, _ := unstructured.NestedString(e.Object.Object, "status", "updateRevision")
		return number(e, "updatedReplicas") == 2 && number(e, "readyReplicas") == 2 && current == update
	})
}
