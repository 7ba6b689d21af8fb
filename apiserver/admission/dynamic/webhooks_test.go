package dynamic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

const (
	pods        = "/api/v1/namespaces/default/pods"
	maps        = "/api/v1/namespaces/default/configmaps"
	hookConfigs = "/apis/admissionregistration.k8s.io/v1/"
)

// cluster is a server, and a webhook whose responses the test sets.
type cluster struct {
	*apiservertest.Server
	t    *testing.T
	hook *webhooktest.Server
}

func start(t *testing.T) *cluster {
	return &cluster{Server: apiservertest.Start(t, nil), t: t, hook: webhooktest.Start(t)}
}

// want sends a request, and fails the test if the response has another code.
func (c *cluster) want(code int, method, path string, body any, header ...string) apiservertest.Answer {
	c.t.Helper()
	a := c.Do(method, path, body, header...)
	if a.Code != code {
		c.t.Fatalf("%s %s: %d %s, want %d", method, path, a.Code, a.Body, code)
	}
	return a
}

// says checks that the message of an error contains the text.
func (c *cluster) says(a apiservertest.Answer, text string) {
	c.t.Helper()
	if m := a.Status().Message; !strings.Contains(m, text) {
		c.t.Errorf("message %s, want %s", m, text)
	}
}

// rule is a rule as JSON.
func rule(operations, group, versions, resources string) string {
	list := func(s string) string { return encode(strings.Split(s, " ")) }
	return fmt.Sprintf(`{"operations":%s,"apiGroups":[%q],"apiVersions":%s,"resources":%s}`,
		list(operations), group, list(versions), list(resources))
}

// register creates a validating or mutating configuration with one webhook at the path, with the rules. more has other
// fields of the webhook as JSON.
func (c *cluster) register(kind, name, path, rules string, more ...string) {
	c.t.Helper()
	c.want(http.StatusCreated, "POST", hookConfigs+strings.ToLower(kind)+"webhookconfigurations", c.configuration(
		kind, name, c.webhook(name, path, rules, more...)))
}

func (c *cluster) configuration(kind, name string, webhooks ...string) string {
	return fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"%sWebhookConfiguration",`+
		`"metadata":{"name":%q},"webhooks":[%s]}`, kind, name, strings.Join(webhooks, ","))
}

// webhook is one webhook of a configuration, with the name name.example.com.
func (c *cluster) webhook(name, path, rules string, more ...string) string {
	return fmt.Sprintf(`{"name":"%s.example.com","clientConfig":{"url":"%s%s","caBundle":%s},"rules":[%s],`+
		`"sideEffects":"None","admissionReviewVersions":["v1"]%s}`,
		name, c.hook.URL, path, encode(c.hook.CA), rules, strings.Join(append([]string{""}, more...), ","))
}

func deny(code int32, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{Code: code, Reason: reason, Message: message}
}

// patch answers with a JSON patch.
func patch(doc string) webhooktest.Answer {
	kind := admissionv1.PatchTypeJSONPatch
	return webhooktest.Respond(&admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(doc), PatchType: &kind})
}

func pod(name string, labels ...string) string {
	set := map[string]string{}
	for _, l := range labels {
		key, value, _ := strings.Cut(l, "=")
		set[key] = value
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":%s},`+
		`"spec":{"containers":[{"name":"c","image":"i"}]}}`, name, encode(set))
}

// calls returns the paths of the calls since the last time, in order.
func (c *cluster) calls() (out []string) {
	for _, s := range c.hook.Seen() {
		out = append(out, s.Path)
	}
	return out
}

// TestWebhookDenies: the denial of a validating webhook is the response. A configuration applies to exactly the
// requests between its creation and its removal (L-S01).
func TestWebhookDenies(t *testing.T) {
	c := start(t)
	c.hook.Script(func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		var obj struct {
			Metadata struct{ Labels map[string]string }
		}
		if err := json.Unmarshal(review.Request.Object.Raw, &obj); err != nil {
			t.Error(err)
		}
		r := &admissionv1.AdmissionResponse{Allowed: obj.Metadata.Labels["deny"] != "yes", Warnings: []string{"seen"}}
		if !r.Allowed {
			r.Result = deny(403, "Forbidden", "nope")
		}
		webhooktest.Respond(r)(w, review)
	})
	c.want(201, "POST", pods, pod("before", "deny=yes"))
	c.register("Validating", "h", "/", rule("CREATE", "", "v1", "pods"))
	a := c.want(403, "POST", pods, pod("p", "deny=yes"))
	if st := a.Status(); st.Message != `admission webhook "h.example.com" denied the request: nope` ||
		st.Reason != "Forbidden" {
		t.Errorf("%+v", st)
	}
	if w := a.Header.Values("Warning"); !slices.Equal(w, []string{`299 - "seen"`}) {
		t.Errorf("warnings %q", w)
	}
	c.want(404, "GET", pods+"/p", nil)
	c.want(201, "POST", pods, pod("p"))
	c.want(200, "DELETE", hookConfigs+"validatingwebhookconfigurations/h", nil)
	c.want(201, "POST", pods, pod("after", "deny=yes"))
}

// TestReviewsOfAllRequests checks the review that a webhook gets for each kind of request (L-S03, L-S17).
func TestReviewsOfAllRequests(t *testing.T) {
	c := start(t)
	c.want(201, "POST", maps, `{"metadata":{"name":"old","labels":{"a":"1"}}}`)
	c.want(201, "POST", "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"d"},"spec":{"replicas":1,`+
		`"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},`+
		`"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	c.register("Validating", "v", "/validate", rule("*", "*", "*", "*/*"))
	c.register("Mutating", "m", "/mutate", rule("*", "*", "*", "*/*"))
	for _, test := range []struct {
		method, path, body, media string
		code                      int
		// want has the operation, the kind, resource/subresource, the name, the namespace, the objects that are
		// present, and the options.
		want string
	}{
		{"POST", maps, `{"metadata":{"name":"new"}}`, "", 201, "CREATE ConfigMap configmaps new default new CreateOptions"},
		{"PUT", maps + "/old", `{"metadata":{"name":"old"}}`, "", 200,
			"UPDATE ConfigMap configmaps old default new+old UpdateOptions"},
		{"PATCH", maps + "/old", `{"data":{"a":"b"}}`, "", 200,
			"UPDATE ConfigMap configmaps old default new+old UpdateOptions"},
		{"PATCH", maps + "/old", `[]`, "", 200,
			"UPDATE ConfigMap configmaps old default new+old UpdateOptions"},
		{"PATCH", maps + "/old?fieldManager=f",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"old"},"data":{"x":"y"}}`,
			"application/apply-patch+yaml", 200, "UPDATE ConfigMap configmaps old default new+old UpdateOptions"},
		{"PATCH", maps + "/applied?fieldManager=f", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"}}`,
			"application/apply-patch+yaml", 201, "CREATE ConfigMap configmaps applied default new CreateOptions"},
		{"PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/l", `{"metadata":{"name":"l"}}`, "", 201,
			"CREATE Lease leases l default new CreateOptions"},
		{"PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", `{"spec":{"replicas":2}}`, "", 200,
			"UPDATE Scale deployments/scale d default new+old UpdateOptions"},
		{"PATCH", "/apis/apps/v1/namespaces/default/deployments/d/status", `{"status":{"replicas":2}}`, "", 200,
			"UPDATE Deployment deployments/status d default new+old UpdateOptions"},
		{"POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`, "", 201,
			"CREATE Namespace namespaces n n new CreateOptions"},
		{"DELETE", maps + "/old", "", "", 200, "DELETE ConfigMap configmaps old default old DeleteOptions"},
		{"DELETE", maps + "?fieldSelector=metadata.name%3Dnew", "", "", 200,
			"DELETE ConfigMap configmaps  default old DeleteOptions"},
		{"POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"metadata":{"name":"r"}}`, "", 201,
			"CREATE ClusterRole clusterroles r  new CreateOptions"},
	} {
		c.hook.Seen()
		c.want(test.code, test.method, test.path, test.body, "Content-Type", test.media)
		seen := c.hook.Seen()
		if len(seen) != 2 || seen[0].Path != "/mutate" || seen[1].Path != "/validate" {
			t.Errorf("%s %s: %d calls", test.method, test.path, len(seen))
			continue
		}
		for _, s := range seen {
			if got := summary(s.Review.Request); got != test.want {
				t.Errorf("%s %s, %s:\n  got %s\n want %s", test.method, test.path, s.Path, got, test.want)
			}
		}
	}
}

func summary(r *admissionv1.AdmissionRequest) string {
	var objects []string
	if len(r.Object.Raw) > 0 && string(r.Object.Raw) != "null" {
		objects = append(objects, "new")
	}
	if len(r.OldObject.Raw) > 0 && string(r.OldObject.Raw) != "null" {
		objects = append(objects, "old")
	}
	var options struct{ Kind string }
	_ = json.Unmarshal(r.Options.Raw, &options) // no options have no kind
	resource := r.Resource.Resource
	if r.SubResource != "" {
		resource += "/" + r.SubResource
	}
	return fmt.Sprintf("%s %s %s %s %s %s %s", r.Operation, r.Kind.Kind, resource, r.Name, r.Namespace,
		strings.Join(objects, "+"), options.Kind)
}

// TestWebhooksMutateInOrder: webhooks change objects one after the other, in the order of the configurations' names.
// Each gets the changes of the webhooks before it (L-S07, L-S09).
func TestWebhooksMutateInOrder(t *testing.T) {
	c := start(t)
	add := func(path, value string) {
		c.hook.ScriptPath(path, func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
			var obj struct {
				Metadata struct{ Annotations map[string]string }
			}
			if err := json.Unmarshal(review.Request.Object.Raw, &obj); err != nil {
				t.Error(err)
			}
			next := encode(map[string]string{"order": obj.Metadata.Annotations["order"] + value})
			patch(`[{"op":"add","path":"/metadata/annotations","value":`+next+`}]`)(w, review)
		})
	}
	add("/a", "a")
	add("/b", "b")
	c.hook.ScriptPath("/c", patch(
		`[{"op":"add","path":"/spec/containers/-","value":{"name":"d","image":"i","unknown":1}}]`))
	rules := rule("CREATE", "", "v1", "pods")
	c.register("Mutating", "b", "/b", rules)
	c.register("Mutating", "a", "/a", rules)
	c.register("Mutating", "c", "/c", rules)
	obj := c.want(201, "POST", pods, pod("p")).Object()
	if got := obj.GetAnnotations()["order"]; got != "ab" {
		t.Errorf("order %q", got)
	}
	containers, _, _ := unstructured.NestedSlice(obj.Object, "spec", "containers")
	if len(containers) != 2 {
		t.Fatalf("containers %v", containers)
	}
	added := containers[1].(map[string]any)
	if _, unknown := added["unknown"]; unknown || added["imagePullPolicy"] != "Always" {
		t.Errorf("the added container is %v", added)
	}
	if got := c.calls(); !slices.Equal(got, []string{"/a", "/b", "/c"}) {
		t.Errorf("calls %v", got)
	}
}
