package printers

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func apiServiceColumns() []Column {
	return []Column{
		nameColumn,
		text("Service", "The reference to the service that hosts this API endpoint."),
		text("Available", "Whether this service is available."),
		ageColumn,
	}
}

// apiServiceCells reads an APIService as JSON: its Go type is in kube-aggregator, which isn't
// otherwise needed.
func apiServiceCells(obj runtime.Object, now time.Time) []any {
	u := asUnstructured(obj)
	service := "Local"
	if ref, ok, _ := unstructured.NestedMap(u.Object, "spec", "service"); ok {
		service = member(ref, "namespace") + "/" + member(ref, "name")
	}
	return []any{u.GetName(), service, available(u), Age(u.GetCreationTimestamp().Time, now)}
}

func available(u *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if member(condition, "type") != "Available" {
			continue
		}
		status, reason := member(condition, "status"), member(condition, "reason")
		if status != "True" && reason != "" {
			status = fmt.Sprintf("%s (%s)", status, reason)
		}
		return status
	}
	return "Unknown"
}

// member returns the string of that name, or "".
func member(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

// asUnstructured converts typed objects; it fails only for types that aren't JSON objects.
func asUnstructured(obj runtime.Object) *unstructured.Unstructured {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		panic(fmt.Sprintf("printers: a %T has no JSON object: %v", obj, err))
	}
	return &unstructured.Unstructured{Object: content}
}
