package endpoints_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestStrictCustom: B-71 of custom resources in YAML, where a duplicate key is found before the conversion to JSON.
func TestStrictCustom(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	must(t,
		s.Do("POST", crds, `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"}}}}}}}]}}`), http.StatusCreated)
	must(t, s.Do("PATCH", crds+
		"/things.example.com/status", `{"status":{"acceptedNames":{"plural":"things","kind":"Thing"},"storedVersions":["v1"],
		"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`, "Content-Type",
		mergePatch), http.StatusOK)
	const things = "/apis/example.com/v1/namespaces/default/things"
	thing := func(name string) string {
		return "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: " + name +
			"\nspec:\n  a: 1\n  a: 2\n  b: 3\nspec:\n  a: 4\n  b: 5\n"
	}
	for _, c := range []struct {
		validation string
		code       int
		warnings   []string
		says       string
	}{
		{"", http.StatusCreated, []string{
			`299 - "line 7: key \"a\" already set in map"`, `299 - "line 10: key \"spec\" already set in map"`,
			`299 - "unknown field \"spec.b\""`,
		}, `"spec":{"a":4}`},
		{
			"Strict", http.StatusBadRequest, nil,
			`Thing in version \"v1\" cannot be handled as a Thing: strict decoding error: yaml: unmarshal errors:\n  line 7: key \"a\" already set in map\n  line 10: key \"spec\" already set in map, unknown field \"spec.b\"`,
		},
		{"Ignore", http.StatusCreated, nil, `"spec":{"a":4}`},
	} {
		a := s.Do(
			"POST", things+"?fieldValidation="+c.validation, thing("x"+strings.ToLower(c.validation)), "Content-Type",
			"application/yaml",
		)
		if d := cmp.Diff(c.warnings, a.Header.Values("Warning")); a.Code != c.code || d != "" ||
			!strings.Contains(string(a.Body), c.says) {
			t.Errorf("%q: %d %s; warnings (-want +got):\n%s", c.validation, a.Code, a.Body, d)
		}
	}
}
