package dynamic_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestMutationRequests: which requests a policy changes: neither those of subresources that it does not name, nor
// removals; and fields that it adds have no manager (M-20, L-95).
func TestMutationRequests(t *testing.T) {
	c := start(t)
	c.policy("Mutating", "p", rule("*", "apps", "v1", "deployments"), mutating("Never", label("by", "p")))
	c.bind("Mutating", "p")
	c.policy("Mutating", "scale", rule("UPDATE", "apps", "v1", "deployments/scale"),
		mutating("Never", "[JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1}]"))
	c.bind("Mutating", "scale")
	obj := c.want(201, "POST", deployments, deployment("d", 1)).Object()
	if by := obj.GetLabels()["by"]; by != "p" {
		t.Errorf("label %q", by)
	}
	if fields := encode(obj.GetManagedFields()); strings.Contains(fields, "f:by") {
		t.Errorf("managed fields %s", fields)
	}
	c.remove("Mutating", "p")
	c.want(200, "PATCH", deployments+"/d", `{"metadata":{"labels":null}}`)
	c.policy("Mutating", "p", rule("*", "apps", "v1", "deployments"), mutating("Never", label("by", "p")))
	c.bind("Mutating", "p")
	c.want(200, "PATCH", deployments+"/d/status", `{"status":{"replicas":1}}`)
	c.want(200, "PATCH", deployments+"/d/scale", `{"spec":{"replicas":4}}`)
	obj = c.want(200, "GET", deployments+"/d", nil).Object()
	if n, _, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas"); n != 5 || len(obj.GetLabels()) > 0 {
		t.Errorf("%d replicas, labels %v", n, obj.GetLabels())
	}
	c.want(200, "PATCH", deployments+"/d", `[]`)
	if by := c.want(200, "GET", deployments+"/d", nil).Object().GetLabels()["by"]; by != "p" {
		t.Errorf("after an empty patch: label %q", by)
	}
	c.want(200, "DELETE", deployments+"/d", nil)
}

// TestMutatedScaleIsValidated: a Scale that a webhook or policy has changed is validated like one that a client sends
// (L-93; K pkg/registry/apps/deployment/storage/storage.go: scaleUpdatedObjectInfo).
func TestMutatedScaleIsValidated(t *testing.T) {
	c := start(t)
	c.want(201, "POST", deployments, deployment("d", 1))
	for _, change := range []struct {
		code        int
		path, value string
	}{
		{422, "/spec/replicas", "-5"}, {409, "/metadata/uid", "'other'"}, {409, "/metadata/resourceVersion", "'1'"},
		{422, "/metadata/name", "'No_Name'"}, {200, "/spec/replicas", "7"},
	} {
		c.policy("Mutating", "p", rule("UPDATE", "apps", "v1", "deployments/scale"),
			mutating("Never", "[JSONPatch{op: 'replace', path: '"+change.path+"', value: "+change.value+"}]"))
		c.bind("Mutating", "p")
		c.want(change.code, "PATCH", deployments+"/d/scale", `{"spec":{"replicas":3}}`)
		c.remove("Mutating", "p")
	}
}

// TestMutatedEviction: what a policy changes in an Eviction counts: its options, and its name, which must be that of
// the pod (K pkg/registry/core/pod/storage/eviction.go: Create, which gets the Eviction after mutation).
func TestMutatedEviction(t *testing.T) {
	c := start(t)
	const pods = "/api/v1/namespaces/default/pods"
	c.want(201, "POST", pods, pod("p"))
	for _, change := range []struct {
		code int
		doc  string
	}{
		{400, "{op: 'replace', path: '/metadata/name', value: 'other'}"},
		{409, "{op: 'add', path: '/deleteOptions', value: {'preconditions': {'uid': 'other'}}}"},
		{201, "{op: 'add', path: '/deleteOptions', value: {'dryRun': ['All']}}"},
	} {
		c.policy("Mutating", "p", rule("CREATE", "*", "v1", "pods/eviction"), mutating("Never", "[JSONPatch"+change.doc+"]"))
		c.bind("Mutating", "p")
		c.want(change.code, "POST", pods+"/p/eviction", `{"metadata":{"name":"p"}}`)
		c.want(200, "GET", pods+"/p", nil)
		c.remove("Mutating", "p")
	}
	c.want(201, "POST", pods+"/p/eviction", `{"metadata":{"name":"p"}}`)
	c.want(404, "GET", pods+"/p", nil)
}

// TestMutationToAnotherKindIsAnError: a patch that makes another kind of an object is an error of the request,
// independent of the failure policy (AS pkg/admission/plugin/policy/mutating/dispatcher.go: Dispatch).
func TestMutationToAnotherKindIsAnError(t *testing.T) {
	c := start(t)
	const named = `{"metadata":{"name":"c"}}`
	for _, of := range []struct{ resource, path, body string }{
		{"configmaps", "configmaps", named}, {"pods", "pods", pod("c")}, {"pods/eviction", "pods/c/eviction", named},
	} {
		c.policy("Mutating", "p", rule("CREATE", "*", "v1", of.resource), `"failurePolicy":"Ignore"`, mutating("Never",
			"[JSONPatch{op: 'replace', path: '', value: {'kind': 'Secret', 'apiVersion': 'v1'}}]"))
		c.bind("Mutating", "p")
		a := c.want(500, "POST", "/api/v1/namespaces/default/"+of.path, of.body)
		if !strings.Contains(string(a.Body), "unknown conversion") {
			t.Errorf("%s: %s", of.resource, a.Body)
		}
		c.remove("Mutating", "p")
	}
}
