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
		controlled(t, s.Do("GET", claims+"/data-"+name, nil).Object(), "StatefulSet", "s")
		ready(t, s, name)
	}
	sees(t, w, "s", has("status.availableReplicas", "2"))
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
	sees(t, w, "s", func(o map[string]any) bool {
		update, _, _ := unstructured.NestedString(o, "status", "updateRevision")
		return has("status.updatedReplicas", "2", "status.readyReplicas", "2", "status.currentRevision", update)(o)
	})
}
