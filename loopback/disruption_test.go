package loopback_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/controllers/disruption"
	"github.com/kubecascade/kubecascade/controllers/workload"
)

const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"

func budget(name, app, bound string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{%s,"selector":{"matchLabels":{"app":%q}}}}`, name, bound, app)
}

// runs sets a pod Running and Ready.
func runs(t *testing.T, s *apiservertest.Server, name string) {
	t.Helper()
	do(t, s, "PATCH", pods+"/"+name+"/status",
		`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
}

func evict(s *apiservertest.Server, name string) apiservertest.Answer {
	return s.Do("POST", pods+"/"+name+"/eviction", fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
}

func scaling(s *apiservertest.Server) workload.Controller {
	return disruption.Budgets(client(s)("", "test").Scale)
}

// TestDisruptionScale: the controller reads the scale subresource of custom resources.
func TestDisruptionScale(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size,
		`,"subresources":{"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}}`)))
	run(t, s, scaling(s))
	w := s.Watch(budgets + "?watch=1")
	owner := create(t, s, v1widgets, "w", nil, map[string]any{"apiVersion": "example.com/v1", "kind": "Widget",
		"spec": map[string]any{"size": 7}})
	do(t, s, "POST", pods, owned("p", "example.com/v1", "Widget", "w", string(owner.GetUID())))
	do(t, s, "POST", budgets, budget("b", "p", `"minAvailable":"50%"`))
	sees(t, w, "b", has("status.expectedPods", "7", "status.desiredHealthy", "4", "status.disruptionsAllowed", "0"))
}

// TestDisruptionFailures: if the scale of a pod's controller can't be read, the condition and an event say why.
func TestDisruptionFailures(t *testing.T) {
	s := apiservertest.Start(t, nil)
	run(t, s, scaling(s), disruption.Pods())
	w, events := s.Watch(budgets+"?watch=1"), s.Watch("/api/v1/namespaces/default/events?watch=1")
	for _, c := range []struct{ name, version, kind, problem string }{
		{"kind", "example.com/v1", "Nothing", `no matches for kind "Nothing" in version "example.com/v1"`},
		{"job", "batch/v1", "Job", "jobs.batch does not implement the scale subresource"},
		{"node", "v1", "Node", "nodes does not implement the scale subresource"},
		{"none", "apps/v1", "ReplicaSet", `found no controllers for pod "none"`},
	} {
		do(t, s, "POST", pods, owned(c.name, c.version, c.kind, "x", "u"))
		do(t, s, "POST", budgets, budget(c.name, c.name, `"maxUnavailable":1`))
		b := sees(t, w, c.name, condition("DisruptionAllowed", "False", "SyncFailed"))
		all, _, _ := unstructured.NestedSlice(b.Object, "status", "conditions")
		if got := all[0].(map[string]any)["message"]; got != c.problem {
			t.Errorf("%s: %v, want %s", c.name, got, c.problem)
		}
		sees(t, events, "", has("reason", "CalculateExpectedPodCountFailed", "involvedObject.name", c.name,
			"source.component", "controllermanager",
			"message", "Failed to calculate the number of expected pods: "+c.problem))
	}
}

// owned returns a pod with a controller; its label app is its name.
func owned(name, version, kind, owner, uid string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"app":%[1]q},"ownerReferences":[{"apiVersion":%q,"kind":%q,
		"name":%q,"uid":%q,"controller":true}]},"spec":{"containers":[{"name":"c","image":"i"}]}}`,
		name, version, kind, owner, uid)
}

// TestEvictionsTogether: of concurrent evictions only as many succeed as the budget allows.
func TestEvictionsTogether(t *testing.T) {
	s := apiservertest.Start(t, nil)
	run(t, s, scaling(s))
	w := s.Watch(budgets + "?watch=1")
	const n, least = 8, 5
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		do(t, s, "POST", pods, fmt.Sprintf(
			`{"metadata":{"name":%q,"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, name))
		runs(t, s, name)
	}
	do(t, s, "POST", budgets, budget("b", "a", fmt.Sprintf(`"minAvailable":%d`, least)))
	sees(t, w, "b", has("status.disruptionsAllowed", fmt.Sprint(n-least)))
	codes := make([]int, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { codes[i] = evict(s, fmt.Sprintf("p%d", i)).Code })
	}
	all.Wait()
	gone := 0
	for _, c := range codes {
		switch c {
		case http.StatusCreated:
			gone++
		case http.StatusTooManyRequests:
		default:
			t.Errorf("code %d", c)
		}
	}
	if gone != n-least {
		t.Errorf("%d pods were evicted: %v", gone, codes)
	}
	sees(t, w, "b", has("status.currentHealthy", fmt.Sprint(least), "status.expectedPods", fmt.Sprint(least),
		"status.disruptionsAllowed", "0"))
}
