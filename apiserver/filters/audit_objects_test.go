package filters_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/audit/policy"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/audit"
)

// TestAuditTruncated: with truncation, an event that is too large has no objects, and one that still is is lost (N-28,
// N-S05).
func TestAuditTruncated(t *testing.T) {
	s, log := audited(t, "omitStages: [RequestReceived]\nrules: [{level: RequestResponse}]\n", func(o *audit.Options) {
		o.Truncate = true
		o.Limits.MaxEventSize = 3 << 10
	})
	const path = "/api/v1/namespaces/a/configmaps"
	const truncated = "audit.k8s.io/truncated"
	body := func(name string) string {
		return `{"metadata":{"name":"` + name + `"},"data":{"a":"` + strings.Repeat("x", 200<<10) + `"}}`
	}
	s.As("admin", "POST", path, body("large"), "Audit-Id", "large")
	s.As("admin", "POST", path+"?pad="+strings.Repeat("x", 4<<10), body("lost"), "Audit-Id", "lost")
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

// TestAuditMemory: a response that the log has needs memory, also one that the client gets as it is cached.
func TestAuditMemory(t *testing.T) {
	for level, code := range map[string]int{"Metadata": http.StatusOK, "RequestResponse": http.StatusRequestEntityTooLarge} {
		p, err := policy.LoadPolicyFromBytes([]byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: " + level +
			", verbs: [list]}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		options := audit.Defaults()
		log, err := options.Log(p, &events{more: make(chan struct{})})
		if err != nil {
			t.Fatal(err)
		}
		s := start(t, func(c *apiserver.Config) { c.Audit, c.MemoryInFlight = log, 16<<20 })
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
