package loopback_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
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
	refs := first.GetOwnerReferences()
	if len(refs) != 1 || refs[0].Kind != "DaemonSet" || refs[0].Name != "d" || !*refs[0].Controller ||
		!*refs[0].BlockOwnerDeletion {
		t.Errorf("references %+v", refs)
	}
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
	number := func(e apiservertest.Event, field string) float64 {
		n, _, _ := unstructured.NestedNumberAsFloat64(e.Object.Object, "status", field)
		return n
	}
	eventually(t, w, "both to be available", func(e apiservertest.Event) bool { return number(e, "numberAvailable") == 2 })
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
	eventually(t, w, "the update to be complete", func(e apiservertest.Event) bool {
		return number(e, "updatedNumberScheduled") == 2 && number(e, "numberAvailable") == 2
	})
	for _, p := range s.Do("GET", pods, nil).List().Items {
		if !slices.Contains(names, p.GetName()) {
			t.Errorf("%s is left", p.GetName())
		}
	}
}
