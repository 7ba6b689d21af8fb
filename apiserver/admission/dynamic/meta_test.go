package dynamic_test

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// TestWebhooksMetadataIsValidated: metadata that a webhook has changed is validated like metadata that a client sends.
// A webhook can change the name of a new object, but not its namespace (L-91; AS pkg/registry/rest/create.go:
// BeforeCreate). The request's name stays the name in the body (same: AdmissionToValidateObjectFunc).
func TestWebhooksMetadataIsValidated(t *testing.T) {
	c := start(t)
	c.hook.ScriptPath("/name", patch(`[{"op":"replace","path":"/metadata/name","value":"renamed"}]`))
	c.hook.ScriptPath("/namespace", patch(`[{"op":"replace","path":"/metadata/namespace","value":"kube-system"}]`))
	c.hook.ScriptPath("/uid", patch(`[{"op":"add","path":"/metadata/uid","value":"mine"}]`))
	c.want(201, "POST", maps, `{"metadata":{"name":"stored"}}`)
	for _, test := range []struct {
		hook, method, path, body string
		code                     int
		want                     string
	}{
		{"/name", "POST", maps, `{"metadata":{"name":"m"}}`, 201, `"name":"renamed"`},
		{"/name", "PUT", maps + "/stored", `{"metadata":{"name":"stored"}}`, 422, "metadata.name: Invalid value"},
		{"/namespace", "POST", maps, `{"metadata":{"name":"m"}}`, 400,
			"the namespace of the provided object does not match the namespace sent on the request"},
		{"/namespace", "PUT", maps + "/stored", `{"metadata":{"name":"stored"}}`, 400,
			"the namespace of the provided object does not match the namespace sent on the request"},
		{"/namespace", "PATCH", maps + "/stored", `{"data":{"a":"b"}}`, 400,
			"the namespace of the provided object does not match the namespace sent on the request"},
		{"/uid", "PUT", maps + "/stored", `{"metadata":{"name":"stored"}}`, 422, "metadata.uid: Invalid value"},
		{"/uid", "POST", maps, `{"metadata":{"name":"u"}}`, 201, `"name":"u"`},
	} {
		c.register("Mutating", "m", test.hook, rule("CREATE UPDATE", "", "v1", "configmaps"))
		a := c.Do(test.method, test.path, test.body)
		if a.Code != test.code || !strings.Contains(string(a.Body), test.want) || a.Object().GetUID() == "mine" {
			t.Errorf("%s %s %s: %d %s", test.hook, test.method, test.path, a.Code, a.Body)
		}
		c.want(200, "DELETE", hookConfigs+"mutatingwebhookconfigurations/m", nil)
	}
	c.want(200, "DELETE", maps+"/renamed", nil)
	c.hook.ScriptPath("/seen", webhooktest.Respond(&admissionv1.AdmissionResponse{Allowed: true}))
	c.register("Mutating", "m", "/name", rule("CREATE UPDATE", "", "v1", "configmaps"))
	c.register("Validating", "v", "/seen", rule("CREATE UPDATE", "", "v1", "configmaps"))
	c.want(201, "POST", maps, `{"metadata":{"name":"m"}}`)
	seen := c.hook.Seen()
	r := seen[len(seen)-1].Review.Request
	if got := object(t, r.Object.Raw).GetName(); r.Name != "m" || got != "renamed" {
		t.Errorf("the request for %s of an object %s", r.Name, got)
	}
}

// TestRepeatedApplyWithAWebhookWritesNothing: the webhook changes the result in the same way.
func TestRepeatedApplyWithAWebhookWritesNothing(t *testing.T) {
	c := start(t)
	c.hook.Script(patch(`[{"op":"add","path":"/metadata/labels","value":{"added":"yes"}}]`))
	c.register("Mutating", "m", "/", rule("CREATE UPDATE", "", "v1", "configmaps"))
	const doc = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"a":"b"}}`
	var versions []string
	for _, code := range []int{201, 200, 200} {
		a := c.want(code, "PATCH", maps+"/m?fieldManager=f", doc, "Content-Type", "application/apply-patch+yaml")
		versions = append(versions, a.Object().GetResourceVersion())
		if a.Object().GetLabels()["added"] != "yes" {
			t.Errorf("%s", a.Body)
		}
	}
	if versions[0] != versions[1] || versions[1] != versions[2] {
		t.Errorf("resource versions %v", versions)
	}
}

// TestPatchWithoutAnObjectIsAnError: for built-in and custom resources, on create and update.
func TestPatchWithoutAnObjectIsAnError(t *testing.T) {
	c := start(t)
	c.define()
	const custom = "/apis/example.com/v1/namespaces/default/widgets"
	kinds := map[string]string{maps: `{"metadata":{"name":"stored"}}`,
		custom: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"stored"}}`}
	for path, body := range kinds {
		c.want(201, "POST", path, body)
	}
	c.register("Mutating", "m", "/m", rule("CREATE UPDATE", "*", "*", "configmaps widgets"))
	for _, doc := range []string{
		`[{"op":"remove","path":"/metadata"}]`, `[{"op":"replace","path":"/metadata","value":null}]`,
		`[{"op":"replace","path":"/metadata","value":7}]`, `[{"op":"replace","path":"","value":null}]`,
		`[{"op":"replace","path":"","value":[]}]`, `[{"op":"replace","path":"","value":{}}]`,
		`[{"op":"remove","path":""}]`,
		`[{"op":"move","from":"/metadata/name","path":"/metadata/labels"}]`, `[null]`, `[{}]`, `null`,
		`[{"op":"replace","path":"/metadata/name","value":null}]`,
		`[{"op":"replace","path":"/metadata/labels","value":{"a":1}}]`,
	} {
		c.hook.ScriptPath("/m", patch(doc))
		for path, body := range kinds {
			create := strings.Replace(body, "stored", "new", 1)
			for _, a := range []apiservertest.Answer{c.Do("POST", path, create),
				c.Do("PATCH", path+"/stored", `{"metadata":{"annotations":{"a":"b"}}}`)} {
				if a.Code < 400 && doc != "null" || a.Code == 500 && strings.Contains(string(a.Body), "panic") {
					t.Errorf("%s %s: %d %s", doc, path, a.Code, a.Body)
				}
			}
			c.Do("DELETE", path+"/new", nil)
		}
	}
}

// TestWebhookChangesOnlyFieldsOfTheSubresource: L-16, L-93.
func TestWebhookChangesOnlyFieldsOfTheSubresource(t *testing.T) {
	c := start(t)
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	c.want(201, "POST", deployments, `{"metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},`+
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	c.hook.ScriptPath(
		"/m", patch(`[{"op":"add","path":"/status/replicas","value":5},{"op":"replace","path":"/spec/replicas","value":9}]`),
	)
	c.register("Mutating", "m", "/m", rule("UPDATE", "apps", "v1", "deployments/status"))
	obj := c.want(200, "PATCH", deployments+"/d/status", `{"status":{"readyReplicas":1}}`).Object()
	status, _, _ := unstructured.NestedMap(obj.Object, "status")
	spec, _, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas")
	if status["replicas"] != int64(5) || status["readyReplicas"] != int64(1) || spec != 1 {
		t.Errorf("status %v, spec.replicas %d", status, spec)
	}
	if c.called(200, "PATCH", deployments+"/d", `{"spec":{"replicas":2}}`) {
		t.Error("called for the deployment itself")
	}
}
