package endpoints_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const crontab = "/apis/example.com/v1/namespaces/default/crontabs"

// restored returns a counter of how often stored custom resources are decoded by their schema.
func restored(s *apiservertest.Server, version, plural string) *int {
	n, res := new(int), s.Types.Lookup("example.com", version, plural)
	restore := res.Restore
	res.Restore = func(obj runtime.Object) error { *n++; return restore(obj) }
	return n
}

// specIn returns the spec of an object as JSON.
func specIn(t *testing.T, a apiservertest.Answer) string {
	t.Helper()
	body := string(must(t, a, http.StatusOK).Body)
	from := strings.Index(body, `"spec":`)
	if from < 0 {
		t.Fatalf("no spec: %s", body)
	}
	spec, _, _ := strings.Cut(body[from+len(`"spec":`):], "}")
	return spec + "}"
}

// TestCanonicalObjectIsCheckedOnce: a stored custom resource is checked once, whether or not it is canonical.
func TestCanonicalObjectIsCheckedOnce(t *testing.T) {
	s := apiservertest.Start(t, nil)
	s.Put(t, "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com", crontabs)
	must(t, s.Do("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", nil), http.StatusOK)
	n := restored(s, "v1", "crontabs")
	s.Put(t, "/registry/example.com/crontabs/default/other", `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":
		{"generation":1,"name":"other","namespace":"default","uid":"u"},"spec":{"i":1,"unknown":2}}`)
	s.Put(t, "/registry/example.com/crontabs/default/same", `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":`+
		`{"generation":1,"name":"same","namespace":"default","uid":"u"},"spec":{"i":1}}`)
	for _, name := range []string{"other", "same", "same"} {
		if got := specIn(t, s.Do("GET", crontab+"/"+name, nil)); got != `{"i":1}` {
			t.Errorf("%s: %s", name, got)
		}
	}
	if *n != 2 {
		t.Errorf("objects were checked %d times", *n)
	}
}

// TestSchemaChanges: an object that this server has written is read by the current schema of its CRD.
func TestSchemaChanges(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.example.com"
	s.Put(t, "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com", crontabs)
	schema := func(properties string) {
		t.Helper()
		must(t, s.Do("PATCH", crd, `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{
			"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{`+properties+`}}}}}}]}}`),
			http.StatusOK)
	}
	write := func(method, path, media string) {
		t.Helper()
		a := s.Do(method, path, `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"a"},"spec":{"i":1}}`,
			"Content-Type", media)
		if a.Code != http.StatusOK && a.Code != http.StatusCreated {
			t.Fatalf("%s %s: %d %s", method, path, a.Code, a.Body)
		}
	}
	expect := func(want string) {
		t.Helper()
		w := s.Watch(crontab + "?watch=true&resourceVersion=0")
		defer w.Close()
		if e, err := w.Next(); err != nil {
			t.Fatal(err)
		} else if spec, _ := json.Marshal(e.Object.Object["spec"]); string(spec) != want {
			t.Errorf("watch: %s, want %s", spec, want)
		}
		for name, got := range map[string]string{
			"get": specIn(t, s.Do("GET", crontab+"/a", nil)), "list": specIn(t, s.Do("GET", crontab, nil)),
			"patch of nothing": specIn(t, s.Do("PATCH", crontab+"/a?dryRun=All", `{}`)),
			"delete":           specIn(t, s.Do("DELETE", crontab+"/a?dryRun=All&propagationPolicy=Foreground", nil)),
		} {
			if got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
	schema(`"i":{"type":"integer"}`)
	write("POST", crontab, "application/json")
	for _, read := range []bool{true, false} { // whether the object in the cache is marked before the schema changes
		for _, path := range []string{crontab + "/a", crontab + "/a?fieldManager=m&force=true"} {
			media := map[bool]string{true: applyPatch, false: mergePatch}[strings.Contains(path, "m&")]
			schema(`"i":{"type":"integer"}`)
			if write("PATCH", path, media); read {
				expect(`{"i":1}`)
			}
			schema(`"i":{"type":"integer"},"j":{"type":"integer","default":5}`)
			expect(`{"i":1,"j":5}`)
			schema(`"j":{"type":"integer","default":6}`)
			expect(`{"j":6}`)
			schema(`"i":{"type":"integer"}`)
			expect(`{"i":1}`)
		}
	}
}
