package dynamic_test

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// reviews returns the requests that webhooks got since the last call, by path.
func (c *cluster) reviews() map[string][]*admissionv1.AdmissionRequest {
	out := map[string][]*admissionv1.AdmissionRequest{}
	for _, s := range c.hook.Seen() {
		out[s.Path] = append(out[s.Path], s.Review.Request)
	}
	return out
}

func object(t *testing.T, raw []byte) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return obj
}

// TestWebhooksGetNewObjects: mutating webhooks get a new object before it is prepared, without uid and generated name.
// Validating webhooks get it as it will be stored, except for the resourceVersion (L-67 to L-69, L-S17).
func TestWebhooksGetNewObjects(t *testing.T) {
	c := start(t)
	c.register("Mutating", "m", "/m", rule("*", "", "v1", "pods"))
	c.register("Validating", "v", "/v", rule("*", "", "v1", "pods"))
	stored := c.want(201, "POST", pods+"?fieldManager=f&fieldValidation=Strict", `{"metadata":{"generateName":"g",`+
		`"uid":"x","creationTimestamp":"2020-01-01T00:00:00Z"},"spec":{"containers":[{"name":"c","image":"i"}]}}`,
		"Impersonate-User", "alice", "Impersonate-Group", "devs").Object()
	all := c.reviews()
	if len(all["/m"]) != 1 || len(all["/v"]) != 1 {
		t.Fatalf("reviews %v", all)
	}
	m, v := all["/m"][0], all["/v"][0]
	first, second := object(t, m.Object.Raw), object(t, v.Object.Raw)
	if created := first.GetCreationTimestamp(); m.Name != "" || first.GetName() != "" || first.GetUID() != "" ||
		!created.IsZero() || len(first.GetManagedFields()) != 1 || first.GetManagedFields()[0].Manager != "f" ||
		first.GetKind() != "Pod" || first.GetAPIVersion() != "v1" {
		t.Errorf("the mutating webhook gets %s", m.Object.Raw)
	}
	if v.Name != stored.GetName() || second.GetUID() != stored.GetUID() || second.GetResourceVersion() != "" ||
		second.GetGeneration() != stored.GetGeneration() {
		t.Errorf("the validating webhook gets %q %s, stored %v", v.Name, v.Object.Raw, stored.Object["metadata"])
	}
	if phase, _, _ := unstructured.NestedString(second.Object, "status", "phase"); phase != "Pending" {
		t.Errorf("the validating webhook gets phase %q", phase)
	}
	const options = `{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"f","fieldValidation":"Strict"}`
	for _, r := range []*admissionv1.AdmissionRequest{m, v} {
		if u := r.UserInfo; u.Username != "alice" || len(u.Groups) == 0 || u.Groups[0] != "devs" ||
			string(r.Options.Raw) != options || r.UID == "" {
			t.Errorf("user %v, options %s", u, r.Options.Raw)
		}
	}
	if m.UID == v.UID {
		t.Error("two calls with the same uid")
	}
}

// TestWebhooksGetOldObjects: the oldObject of an update is the stored object. A deletion that only marks the object is
// a DELETE, and the removal that follows is an UPDATE. An update without a change is admitted, too (L-13, L-14, L-69).
func TestWebhooksGetOldObjects(t *testing.T) {
	c := start(t)
	stored := c.want(201, "POST", maps, `{"metadata":{"name":"m","finalizers":["a.io/b"]},"data":{"a":"b"}}`).Object()
	c.register("Validating", "v", "/v", rule("*", "", "v1", "configmaps"))
	c.want(200, "PATCH", maps+"/m", `[]`)
	c.want(200, "DELETE", maps+"/m?propagationPolicy=Background", nil)
	c.want(200, "PATCH", maps+"/m", `{"metadata":{"finalizers":null}}`)
	c.want(404, "GET", maps+"/m", nil)
	all := c.reviews()["/v"]
	var operations []admissionv1.Operation
	for _, r := range all {
		operations = append(operations, r.Operation)
	}
	if len(all) != 3 || operations[0] != "UPDATE" || operations[1] != "DELETE" || operations[2] != "UPDATE" {
		t.Fatalf("operations %v", operations)
	}
	if rv := object(t, all[0].OldObject.Raw).GetResourceVersion(); rv != stored.GetResourceVersion() {
		t.Errorf("oldObject %s", all[0].OldObject.Raw)
	}
	if rv := object(t, all[0].Object.Raw).GetResourceVersion(); rv != stored.GetResourceVersion() {
		t.Errorf("object %s", all[0].Object.Raw)
	}
	const options = `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","propagationPolicy":"Background"}`
	if got := string(all[1].Options.Raw); got != options {
		t.Errorf("options %s", got)
	}
	if object(t, all[2].OldObject.Raw).GetDeletionTimestamp() == nil ||
		object(t, all[2].Object.Raw).GetFinalizers() != nil {
		t.Errorf("the removal is %s", all[2].Object.Raw)
	}
}
