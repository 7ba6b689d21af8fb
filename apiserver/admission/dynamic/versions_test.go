package dynamic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// widgets have two versions, of which only the schema of v2 has a default.
const widgets = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",` +
	`"metadata":{"name":"widgets.example.com","uid":"d"},"spec":{"group":"example.com","scope":"Namespaced",` +
	`"names":{"plural":"widgets","kind":"Widget"},"versions":[` +
	`{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{` +
	`"spec":{"type":"object","properties":{"size":{"type":"integer","maximum":9},"color":{"type":"string"}}}}}},` +
	`"subresources":{"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}}},` +
	`{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{` +
	`"spec":{"type":"object","properties":{"size":{"type":"integer"},"color":{"type":"string","default":"red"}}}}}}}]},` +
	`"status":{"acceptedNames":{"plural":"widgets","kind":"Widget"},"storedVersions":["v1"],` +
	`"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`

// define stores the definition of widgets.
func (c *cluster) define() {
	c.t.Helper()
	c.Put(c.t, "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com", widgets)
}

// TestCustomVersions: a webhook whose rule names one version of a custom resource is also called for requests in
// another version, with the objects converted to the rule's version. With matchPolicy Exact it is not called (L-34,
// L-92, L-S10).
func TestCustomVersions(t *testing.T) {
	c := start(t)
	c.define()
	c.register("Mutating", "m", "/mutate", rule("CREATE UPDATE", "example.com", "v1", "widgets"))
	c.register("Validating", "v", "/validate", rule("*", "example.com", "v1", "widgets"))
	c.register("Validating", "exact", "/exact", rule("*", "example.com", "v1", "widgets"), `"matchPolicy":"Exact"`)
	c.hook.ScriptPath("/mutate",
		patch(`[{"op":"add","path":"/spec/size","value":5},{"op":"add","path":"/spec/other","value":1},`+
			`{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`))
	const v2 = "/apis/example.com/v2/namespaces/default/widgets"
	obj := c.want(201, "POST", v2, `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"w"},"spec":{}}`).
		Object()
	seen := c.hook.Seen()
	if len(seen) != 2 || seen[0].Path != "/mutate" || seen[1].Path != "/validate" {
		t.Fatalf("%d calls", len(seen))
	}
	for _, s := range seen {
		r := s.Review.Request
		var shown unstructured.Unstructured
		if err := json.Unmarshal(r.Object.Raw, &shown); err != nil {
			t.Fatal(err)
		}
		if r.Kind.Version != "v1" || r.Resource.Version != "v1" || r.RequestKind.Version != "v2" ||
			r.RequestResource.Version != "v2" || shown.GetAPIVersion() != "example.com/v1" {
			t.Errorf("%s: %s", s.Path, s.Body)
		}
	}
	spec, _, _ := unstructured.NestedMap(obj.Object, "spec")
	if obj.GetAPIVersion() != "example.com/v2" || spec["size"] != int64(5) || spec["color"] != "red" ||
		spec["other"] != nil ||
		obj.GetLabels()["a"] != "b" {
		t.Errorf("stored %v", obj.Object)
	}
	c.want(200, "PATCH", v2+"/w", `{"spec":{"color":"blue"}}`)
	for _, s := range c.hook.Seen() {
		if r := s.Review.Request; r.Kind.Version != "v1" ||
			!strings.Contains(string(r.OldObject.Raw), `"apiVersion":"example.com/v1"`) {
			t.Errorf("%s: %s", s.Path, s.Body)
		}
	}
	c.want(200, "DELETE", v2+"/w", nil)
	for _, s := range c.hook.Seen() {
		r := s.Review.Request
		if r.Kind.Version != "v1" || !strings.Contains(string(r.OldObject.Raw), `"apiVersion":"example.com/v1"`) {
			t.Errorf("%s: %s", s.Path, s.Body)
		}
	}
}

// TestCustomObjects: a webhook's change of a custom resource is validated, defaulted and pruned by the schema of the
// request's version. For the subresource scale, webhooks get an object of the kind Scale (L-17, L-92, L-93).
func TestCustomObjects(t *testing.T) {
	c := start(t)
	c.define()
	const v1 = "/apis/example.com/v1/namespaces/default/widgets"
	object := func(name string) string {
		return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"},"spec":{"size":1}}`
	}
	c.hook.ScriptPath("/m", patch(`[{"op":"replace","path":"/spec/size","value":10}]`))
	c.register("Mutating", "m", "/m", rule("CREATE", "example.com", "*", "widgets"))
	c.register("Validating", "v", "/v", rule("*", "example.com", "*", "widgets widgets/*"))
	a := c.want(422, "POST", v1, object("w"))
	c.says(a, "spec.size: Invalid value: 10")
	if got := c.calls(); len(got) != 1 || got[0] != "/m" {
		t.Errorf("calls %v", got)
	}
	c.want(200, "DELETE", hookConfigs+"mutatingwebhookconfigurations/m", nil)
	c.want(201, "POST", v1, object("w"))
	c.hook.Seen()
	c.hook.ScriptPath("/s", patch(`[{"op":"replace","path":"/spec/replicas","value":7}]`))
	c.register("Mutating", "s", "/s", rule("UPDATE", "example.com", "*", "*/scale"))
	c.want(200, "PATCH", v1+"/w/scale", `{"spec":{"replicas":3}}`)
	for _, s := range c.hook.Seen() {
		if got := summary(s.Review.Request); got != "UPDATE Scale widgets/scale w default new+old UpdateOptions" {
			t.Errorf("%s: %s", s.Path, got)
		}
	}
	obj := c.want(200, "GET", v1+"/w", nil).Object()
	if size, _, _ := unstructured.NestedInt64(obj.Object, "spec", "size"); size != 7 {
		t.Errorf("size %d", size)
	}
}

// TestBuiltinVersions: objects of built-in kinds with several versions are converted, too. Events of both groups are
// the same objects (L-34, L-S11).
func TestBuiltinVersions(t *testing.T) {
	c := start(t)
	const (
		scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
		events  = "/apis/events.k8s.io/v1/namespaces/default/events"
	)
	c.hook.ScriptPath("/hpa", patch(`[{"op":"add","path":"/spec/targetCPUUtilizationPercentage","value":77}]`))
	c.register("Mutating", "hpa", "/hpa", rule("CREATE", "autoscaling", "v1", "horizontalpodautoscalers"))
	c.hook.ScriptPath("/event", func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		if k := review.Request.Kind; k.Group != "" || k.Version != "v1" {
			t.Errorf("kind %v", k)
		}
		patch(`[{"op":"add","path":"/message","value":"changed"}]`)(w, review)
	})
	c.register("Mutating", "event", "/event", rule("CREATE", "", "v1", "events"))
	obj := c.want(201, "POST", scalers, `{"metadata":{"name":"h"},"spec":{"maxReplicas":3,`+
		`"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"}}}`).Object()
	metrics, _, _ := unstructured.NestedSlice(obj.Object, "spec", "metrics")
	if len(metrics) != 1 || !strings.Contains(encode(metrics), `"averageUtilization":77`) {
		t.Errorf("metrics %s", encode(metrics))
	}
	seen := c.hook.Seen()
	if len(seen) != 1 {
		t.Fatalf("%d calls", len(seen))
	}
	r := seen[0].Review.Request
	if r.Kind.Version != "v1" || r.RequestKind.Version != "v2" ||
		!strings.Contains(string(r.Object.Raw), `"apiVersion":"autoscaling/v1"`) {
		t.Errorf("%s", seen[0].Body)
	}
	obj = c.want(201, "POST", events, `{"metadata":{"name":"e"},"eventTime":"2020-01-01T00:00:00.000000Z",`+
		`"reportingController":"c.io/c","reportingInstance":"i","action":"a","reason":"r","type":"Normal",`+
		`"regarding":{"kind":"Pod","namespace":"default","name":"p"}}`).Object()
	if obj.Object["note"] != "changed" || obj.GetAPIVersion() != "events.k8s.io/v1" {
		t.Errorf("event %v", obj.Object)
	}
}
