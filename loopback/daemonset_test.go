package loopback_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/controllers/daemonset"
)

const (
	daemons = "/apis/apps/v1/namespaces/default/daemonsets"
	nodes   = "/api/v1/nodes"
)

// A DaemonSet has a pod on each node that it may be on, of its newest revision.
func TestDaemonSet(t *testing.T) {
	s := owning(t, nil, daemonset.New())
	w, made := s.Watch(daemons+"?watch=true"), s.Watch(pods+"?watch=true")
	for name, disk := range map[string]string{"a": "ssd", "b": "hdd"} {
		do(t, s, "POST", nodes, fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"disk":%q}}}`, name, disk))
		// A new node isn't ready; this one is.
		do(t, s, "PATCH", nodes+"/"+name, `{"spec":{"taints":null}}`)
	}
	do(t, s, "POST", daemons, `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"app":"d"}},
		"template":{"metadata":{"labels":{"app":"d"}},"spec":{"nodeSelector":{"disk":"ssd"},"containers":[{"name":"c","image":"one"}]}}}}`)
	first := added(t, made, 1)[0]
	controlled(t, first, "DaemonSet", "d")
	terms, _, _ := unstructured.NestedSlice(
		first.Object, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
		"nodeSelectorTerms",
	)
	if len(terms) != 1 {
		t.Errorf("affinity %v", terms)
	}
	do(t, s, "PATCH", nodes+"/b", `{"metadata":{"labels":{"disk":"ssd"}}}`)
	second := added(t, made, 1)[0]
	for _, p := range []*unstructured.Unstructured{first, second} {
		ready(t, s, p.GetName())
	}
	sees(t, w, "d", has("status.numberAvailable", "2"))
	do(
		t, s, "PATCH", daemons+"/d", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"two"}]}}}}`,
		"Content-Type", "application/strategic-merge-patch+json",
	)
	var names []string
	for range 2 {
		p := added(t, made, 1)[0]
		ready(t, s, p.GetName())
		names = append(names, p.GetName())
	}
	sees(t, w, "d", has("status.updatedNumberScheduled", "2", "status.numberAvailable", "2"))
	for _, p := range s.Do("GET", pods, nil).List().Items {
		if !slices.Contains(names, p.GetName()) {
			t.Errorf("%s is left", p.GetName())
		}
	}
}
