package filters_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/audit"
)

// TestAuditTruncated: with truncation, an event of more than 100 KiB has no objects, and one that is too long without
// objects is dropped (N-28, N-S05).
func TestAuditTruncated(t *testing.T) {
	s, log := audited(t, "omitStages: [RequestReceived]\nrules: [{level: RequestResponse}]\n", func(o *audit.Options) {
		o.Truncate = true
	})
	const path = "/api/v1/namespaces/a/configmaps"
	const truncated = "audit.k8s.io/truncated"
	body := func(name string) string {
		return `{"metadata":{"name":"` + name + `"},"data":{"a":"` + strings.Repeat("x", 200<<10) + `"}}`
	}
	s.As("admin", "POST", path, body("large"), "Audit-Id", "large")
	s.As("admin", "POST", path+"?pad="+strings.Repeat("x", 110<<10), body("lost"), "Audit-Id", "lost")
	s.As("admin", "POST", path, `{"metadata":{"name":"small"}}`, "Audit-Id", "small")
	if e := log.of(t, "small", 1)[0]; e.RequestObject == nil || e.ResponseObject == nil || e.Annotations[truncated] != "" {
		t.Errorf("%+v", e)
	}
	e := log.of(t, "large", 1)[0]
	if e.RequestObject != nil || e.ResponseObject != nil || e.Annotations[truncated] != "true" ||
		e.ObjectRef == nil || e.ObjectRef.Name != "large" || e.ResponseStatus.Code != http.StatusCreated {
		t.Errorf("%+v", e)
	}
	if got := log.of(t, "lost", 0); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestAuditMemory: a response that is logged is counted as memory, also one that is sent to the client from a cache.
func TestAuditMemory(t *testing.T) {
	apiservertest.Sequential(t)
	for level, code := range map[string]int{"Metadata": http.StatusOK, "RequestResponse": http.StatusRequestEntityTooLarge} {
		rules := "rules: [{level: " + level + ", verbs: [list]}]\n"
		s, _ := audited(t, rules, nil, func(c *apiserver.Config) { c.MemoryInFlight = 16 << 20 })
		const path = "/api/v1/namespaces/default/configmaps"
		for i := range 50 {
			a := s.As("admin", "POST", path,
				fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"k":%q}}`, i, strings.Repeat("x", 60<<10)))
			if a.Code != http.StatusCreated {
				t.Fatalf("%d %s", a.Code, a.Body)
			}
		}
		if a := s.As("admin", "GET", path, nil); a.Code != code {
			t.Errorf("%s: %d %.300s", level, a.Code, a.Body)
		}
	}
}
