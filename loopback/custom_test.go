package loopback_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestEmptiedMetadataIsStoredWithoutField: a custom resource that the collector has taken the last reference or
// finalizer from is stored as any client's without them, so that an update that changes nothing writes nothing (B-17).
func TestEmptiedMetadataIsStoredWithoutField(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	collect(t, s)
	widget := func(name string, meta map[string]any) *unstructured.Unstructured {
		return create(t, s, v1widgets, name, meta, map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"})
	}
	owner := widget("owner", nil)
	widget("dependent", map[string]any{"ownerReferences": []any{reference(owner, nil)}})
	do(t, s, "DELETE", v1widgets+"/owner", `{"propagationPolicy":"Orphan"}`)
	alone := until(t, s, v1widgets+"/dependent", func(a apiservertest.Answer) bool {
		return len(a.Object().GetOwnerReferences()) == 0
	}).Object()
	for _, empty := range []string{"ownerReferences", "finalizers"} {
		a := s.Do("PATCH", v1widgets+"/dependent", fmt.Sprintf(`{"metadata":{%q:[]}}`, empty))
		if got, want := a.Object().GetResourceVersion(), alone.GetResourceVersion(); got != want {
			t.Errorf("%s: it was written at %s, and again at %s: %s", empty, want, got, a.Body)
		}
	}
}
