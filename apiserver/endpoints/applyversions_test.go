package endpoints_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const (
	older = "/apis/example.com/v1beta1/namespaces/default/things"
	newer = "/apis/example.com/v1/namespaces/default/things"
)

// defineVersions serves things as v1beta1 {spec.a, spec.replicas} and as v1, which is stored and knows spec.b, too.
func defineVersions(t *testing.T, s *apiservertest.Server) {
	t.Helper()
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	version := func(name, storage, fields string) string {
		return `{"name":"` + name + `","served":true,"storage":` + storage +
			`,"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
			"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer"},` + fields + `}}}}}}`
	}
	must(t,
		s.Do("POST", crds, `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"versions":[`+
			version("v1beta1", "false", `"a":{"type":"integer"}`)+`,`+
			version("v1", "true", `"a":{"type":"integer"},"b":{"type":"string"},"n":{"type":"string","default":"set"}`)+
			`]}}`), http.StatusCreated)
	must(t, s.Do("PATCH", crds+
		"/things.example.com/status", `{"status":{"acceptedNames":{"plural":"things","kind":"Thing"},"storedVersions":["v1"],
		"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`, "Content-Type",
		mergePatch), http.StatusOK)
}

// thing is a thing's JSON in the version of a path.
func thing(collection, name, spec string) string {
	version := strings.Split(collection, "/")[3]
	return `{"apiVersion":"example.com/` + version + `","kind":"Thing","metadata":{"name":"` + name + `"},"spec":` + spec +
		`}`
}

// TestApplyVersions: field managers of several versions, of which one has more fields. The field manager converts
// without pruning, so that it finds fields that a version's schema doesn't have, and reports them (AX
// pkg/apiserver/customresource_handler.go: scopeWithFieldManager; AM
// pkg/util/managedfields/internal/versionconverter.go). The responses are those of apiextensions-apiserver 0.36.6;
// tests/e2e/extensions compares more of them.
func TestApplyVersions(t *testing.T) {
	s := apiservertest.Start(t, nil)
	defineVersions(t, s)
	apply := func(collection, name, query, spec string) apiservertest.Answer {
		return s.Do("PATCH", collection+"/"+name+"?"+query, thing(collection, name, spec), "Content-Type", applyPatch)
	}
	expect := func(name, spec string, managers ...string) {
		t.Helper()
		u := must(t, s.Do("GET", newer+"/"+name, nil), http.StatusOK).Object()
		var got []string
		for _, e := range u.GetManagedFields() {
			got = append(got, e.Manager+" "+e.APIVersion+" "+e.FieldsV1.GetRawString())
		}
		if d := cmp.Diff(managers, got); d != "" {
			t.Errorf("managers of %s (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(apiservertest.Answer{Body: []byte(spec)}.Object().Object, u.Object["spec"]); d != "" {
			t.Errorf("spec of %s (-want +got):\n%s", name, d)
		}
	}
	failed := func(a apiservertest.Answer, code int, says string) {
		t.Helper()
		if st := must(t, a, code).Status(); st.Message != says {
			t.Errorf("message %q, want %q", st.Message, says)
		}
	}

	// An update that the entry of another version has no place for leaves the entries as they were (V-091).
	must(t, apply(older, "x", "fieldManager=m", `{"a":1}`), http.StatusCreated)
	must(
		t, s.Do("PATCH", newer+"/x?fieldManager=other", `{"spec":{"b":"important"}}`, "Content-Type", mergePatch),
		http.StatusOK,
	)
	expect("x", `{"a":1,"b":"important","n":"set"}`, `m example.com/v1beta1 {"f:spec":{"f:a":{}}}`)
	must(t, apply(older, "x", "fieldManager=m", `{"a":2}`), http.StatusOK)
	expect("x", `{"a":2,"n":"set"}`, `m example.com/v1beta1 {"f:spec":{"f:a":{}}}`)

	// An apply fails, and changes nothing.
	must(t, apply(older, "y", "fieldManager=m", `{"a":1}`), http.StatusCreated)
	failed(
		apply(newer, "y", "fieldManager=other&force=true", `{"b":"important"}`), http.StatusInternalServerError,
		".spec.n: field not declared in schema",
	)
	expect("y", `{"a":1,"n":"set"}`, `m example.com/v1beta1 {"f:spec":{"f:a":{}}}`)

	// With an entry of a version that the CRD no longer has, an apply fails, and other writes keep the entries (B-63).
	gone := strings.Replace(thing(newer, "z", `{"a":1,"n":"set"}`), `"name":"z"`, `"name":"z","namespace":"default",
		"uid":"u","managedFields":[{"manager":"m","operation":"Update","apiVersion":"example.com/v0",
		"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:b":{}}}}]`, 1)
	s.Put(t, "/registry/example.com/things/default/z", gone)
	failed(apply(newer, "z", "fieldManager=m", `{"b":"x"}`), http.StatusInternalServerError,
		"request to convert CR to an invalid group/version: example.com/v0")
	must(t, s.Do("PATCH", newer+"/z?fieldManager=other", `{"spec":{"a":2}}`, "Content-Type", mergePatch), http.StatusOK)
	expect("z", `{"a":2,"n":"set"}`, `m example.com/v0 {"f:spec":{"f:b":{}}}`)
}

// TestApplyDefaults: defaults are set when an apply changes something; no field of the document is pruned.
func TestApplyDefaults(t *testing.T) {
	s := apiservertest.Start(t, nil)
	defineVersions(t, s)
	a := must(
		t, s.Do("PATCH", newer+"/x?fieldManager=m", thing(newer, "x", `{"b":null}`), "Content-Type", applyPatch),
		http.StatusUnprocessableEntity,
	)
	if says := a.Status().Message; says !=
		`Thing.example.com "x" is invalid: spec.b: Invalid value: "null": spec.b in body must be of type string: "null"` {
		t.Errorf("message %q", says)
	}
	must(t, s.Do("POST", newer, thing(newer, "x", `{"b":null}`)), http.StatusCreated)
}

// TestScaleCustom: a custom resource's scale needs no resourceVersion, has to have a number, and is validated with the
// object (AX pkg/registry/customresource/etcd.go: ScaleREST, scaleUpdatedObjectInfo).
func TestScaleCustom(t *testing.T) {
	s := apiservertest.Start(t, nil)
	defineVersions(t, s)
	must(t, s.Do("POST", older, thing(older, "x", `{"replicas":1}`)), http.StatusCreated)
	must(t, s.Do("POST", older, thing(older, "none", `{"a":1}`)), http.StatusCreated)
	scale := func(meta, spec string) string {
		return `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"x"` + meta + `},"spec":` + spec + `}`
	}
	for _, c := range []struct {
		method, path, media, body string
		code                      int
		says                      string
	}{
		{"PUT", "/x/scale", "application/json", scale("", `{"replicas":2}`), http.StatusOK, `"spec":{"replicas":2}`},
		{
			"PUT", "/x/scale", "application/json", scale(`,"resourceVersion":"1"`, `{"replicas":3}`), http.StatusConflict,
			"please apply your changes to the latest version",
		},
		{
			"PUT", "/x/scale", "application/json", scale(`,"labels":{"not valid":"!"}`, `{"replicas":4}`), http.StatusOK,
			`"spec":{"replicas":4}`,
		},
		{
			"PUT", "/x/scale", "application/json", scale("", `{"replicas":-1}`), http.StatusUnprocessableEntity,
			"should be a non-negative integer",
		},
		{
			"PUT", "/x/scale", "application/json", strings.Replace(scale("", `{"replicas":4}`), "autoscaling", "extensions", 1),
			http.StatusBadRequest, "no kind is registered for the type v1.Scale",
		},
		{
			"PATCH", "/x/scale", mergePatch, `{"metadata":{"uid":"other"},"spec":{"replicas":5}}`, http.StatusOK,
			`"spec":{"replicas":5}`,
		},
		{"PATCH", "/x/scale", mergePatch, `{"metadata":{"uid":"other"}}`, http.StatusOK, `"spec":{"replicas":5}`},
		{
			"PATCH", "/x/scale?fieldManager=m&force=true", applyPatch, scale("", `{"replicas":6}`),
			http.StatusInternalServerError, "request to convert CR to an invalid group/version: autoscaling/v1",
		},
		{
			"GET", "/none/scale", "application/json", "", http.StatusInternalServerError,
			`the spec replicas field \".spec.replicas\" does not exist`,
		},
		{
			"PATCH", "/none/scale", mergePatch, `{}`, http.StatusBadRequest,
			`the spec replicas field \".spec.replicas\" cannot be empty`,
		},
		{"PATCH", "/none/scale", mergePatch, `{"spec":{"replicas":1}}`, http.StatusOK, `"spec":{"replicas":1}`},
	} {
		if a := s.Do(c.method, newer+c.path, c.body, "Content-Type", c.media); a.Code != c.code ||
			!strings.Contains(string(a.Body), c.says) {
			t.Errorf("%s %s %s: %d %s, want %d %s", c.method, c.path, c.body, a.Code, a.Body, c.code, c.says)
		}
	}
}
