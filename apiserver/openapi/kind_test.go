package openapi

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// TestSchemasAreThoseOfTheDocument: Schemas returns the schemas of the OpenAPI v3 document for the type of an object
// and the types to which it refers, without descriptions.
func TestSchemasAreThoseOfTheDocument(t *testing.T) {
	name, schemas := Schemas(&corev1.Pod{})
	if name != "io.k8s.api.core.v1.Pod" || schemas[name] == nil {
		t.Fatalf("the pod's schema is %q, one of %d", name, len(schemas))
	}
	if schemas["io.k8s.api.core.v1.Service"] != nil {
		t.Error("a pod's schemas hold services")
	}
	whole := newDefinitions(v3)
	whole.add(structOf(&corev1.Pod{}))
	for name, s := range schemas {
		full := whole.schemas[name].Schema
		if s.Description != "" || len(s.Properties) != len(full.Properties) || len(s.Required) != len(full.Required) {
			t.Errorf(
				"%s: %d properties, description %q; want %d and none", name, len(s.Properties), s.Description, len(full.Properties),
			)
		}
		for field, p := range s.Properties {
			if p.Description != "" {
				t.Errorf("%s.%s is described", name, field)
			}
			check(t, schemas, &p)
		}
	}
	if len(schemas) != len(whole.schemas) {
		t.Errorf("%d schemas, want %d", len(schemas), len(whole.schemas))
	}
}

func check(t *testing.T, schemas map[string]*spec.Schema, s *spec.Schema) {
	if ref := s.Ref.String(); ref != "" && schemas[strings.TrimPrefix(ref, v3.refs)] == nil {
		t.Errorf("%s leads nowhere", ref)
	}
}
