package filters_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/audit/policy"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/audit"
)

// TestAuditObjects: what clients send and get is recorded in JSON, in whatever form they send and get it (N-22 to N-25,
// N-S05, N-S08).
func TestAuditObjects(t *testing.T) {
	s, log := audited(
		t, "omitStages: [RequestReceived]\nrules: [{level: RequestResponse, omitManagedFields: true}]\n", nil,
	)
	const path = "/apis/apps/v1/namespaces/a/deployments"
	const spec = `{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
		"spec":{"containers":[{"name":"c","image":"i"}]}}}`
	const protobuf = "application/vnd.kubernetes.protobuf"
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
	yaml := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, labels: {x: 'y'}}\n"
	for i, c := range []struct {
		method, path, body, media, accept string
		code                              int
		// request and response are the members at these places, and want what they are.
		request, response map[string]any
	}{
		{"POST", path, `{"metadata":{"name":"d","uid":"mine"},"spec":` + spec + `}`, "application/json", "", 201,
			map[string]any{
				"kind": "Deployment", "apiVersion": "apps/v1", "metadata.uid": "mine", "spec.replicas": 1.,
				"status": map[string]any{},
			}, map[string]any{"kind": "Deployment", "metadata.generation": 1., "metadata.managedFields": nil}},
		{"GET", path + "/d", "", "", protobuf, 200, nil, map[string]any{"kind": "Deployment", "metadata.name": "d"}},
		{"GET", path, "", "", table, 200, nil, map[string]any{"kind": "Table", "rows.0.object.metadata.name": "d",
			"rows.0.object.metadata.managedFields": nil}},
		{"GET", path, "", "", "application/yaml", 200, nil,
			map[string]any{"kind": "DeploymentList", "items.0.metadata.name": "d", "items.0.metadata.managedFields": nil}},
		{"GET", path + "?pretty=true", "", "", "", 200, nil, map[string]any{"items.0.metadata.managedFields": nil}},
		{"PATCH", path + "/d?fieldManager=m", yaml, "application/apply-patch+yaml", "", 200,
			map[string]any{"metadata.labels.x": "y"}, map[string]any{"metadata.labels.x": "y"}},
		{"PATCH", path + "/d?fieldManager=m", "a: [", "application/apply-patch+yaml", "", 400,
			nil, map[string]any{"kind": "Status", "code": 400.}}, // V-123
		{"PATCH", path + "/d", "{", mergeType, "", 400, nil, map[string]any{"kind": "Status"}},
		{"PATCH", path + "/d/scale", `{"spec":{"replicas":3}}`, mergeType, "", 200,
			map[string]any{"spec.replicas": 3.}, map[string]any{"kind": "Scale", "spec.replicas": 3.}},
		{"DELETE", path + "/d", `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`,
			"application/json", "", 200,
			map[string]any{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"},
			map[string]any{"kind": "Status", "status": "Success", "details.name": "d"}},
		{"GET", path + "/d", "", "", protobuf, 404, nil, map[string]any{"kind": "Status", "reason": "NotFound"}},
	} {
		id := fmt.Sprint("o", i)
		header := []string{"Audit-Id", id, "Content-Type", c.media}
		if c.accept != "" {
			header = append(header, "Accept", c.accept)
		}
		if a := s.As("admin", c.method, c.path, c.body, header...); a.Code != c.code {
			t.Fatalf("%s %s: %d %s", c.method, c.path, a.Code, a.Body)
		}
		e := log.of(t, id, 1)[0]
		var request, response []byte
		if e.RequestObject != nil {
			request = e.RequestObject.Raw
		}
		if e.ResponseObject != nil {
			response = e.ResponseObject.Raw
		}
		has(t, c.method+" "+c.path+": request", request, c.request)
		has(t, c.method+" "+c.path+": response", response, c.response)
		if i == 0 && (e.ObjectRef.Name != "d" || e.ObjectRef.UID != "mine") {
			t.Errorf("%+v", e.ObjectRef)
		}
	}
}

// has compares members of a JSON document by their places.
func has(t *testing.T, what string, data []byte, want map[string]any) {
	t.Helper()
	if (data == nil) != (want == nil) {
		t.Errorf("%s: %s", what, data)
		return
	}
	var doc any
	if data != nil {
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatalf("%s: %v: %s", what, err, data)
		}
	}
	for place, value := range want {
		at := doc
		for _, name := range strings.FieldsFunc(place, func(r rune) bool { return r == '.' }) {
			switch v := at.(type) {
			case map[string]any:
				at = v[name]
			case []any:
				at = v[int(name[0]-'0')]
			default:
				at = nil
			}
		}
		if diff := cmp.Diff(value, at); diff != "" {
			t.Errorf("%s: %s (-want +got): %s\n%s", what, place, diff, data)
		}
	}
}

// TestAuditCustomObjects: custom resources are recorded by their schema, too.
func TestAuditCustomObjects(t *testing.T) {
	s, log := audited(t, "omitStages: [RequestReceived]\nrules: [{level: RequestResponse}]\n", nil)
	s.odd("gadgets", "Namespaced")
	const path = "/apis/odd.test/v1/namespaces/a/gadgets"
	a := s.As("admin", "POST", path, `{"apiVersion":"odd.test/v1","kind":"Gadgets","metadata":{"name":"g"},"x":1}`,
		"Audit-Id", "custom")
	if a.Code != http.StatusCreated {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	e := log.of(t, "custom", 1)[0]
	has(t, "request", e.RequestObject.Raw, map[string]any{"kind": "Gadgets", "metadata.name": "g", "x": nil})
	has(t, "response", e.ResponseObject.Raw, map[string]any{"kind": "Gadgets", "metadata.generation": 1.})
}

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
