package audit

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/audit"
)

// TestAnnotationsAreLimited: the annotations of an event are limited.
func TestAnnotationsAreLimited(t *testing.T) {
	ctx := audit.WithAuditContext(t.Context())
	event := audit.AuditContextFrom(ctx)
	if err := event.Init(audit.RequestAuditConfig{Level: "Metadata"}, nil); err != nil {
		t.Fatal(err)
	}
	r := &Record{event: event, ctx: ctx}
	half := strings.Repeat("x", maxAnnotations/2)
	for _, key := range []string{"a.example.com/a", "a.example.com/b"} {
		r.Annotate(key, half)
	}
	if v, ok := event.GetEventAnnotation("a.example.com/a"); !ok || v != half {
		t.Errorf("the first annotation has %d bytes", len(v))
	}
	if v, ok := event.GetEventAnnotation("a.example.com/b"); ok {
		t.Errorf("the second annotation has %d bytes", len(v))
	}
}
