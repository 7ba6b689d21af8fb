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

// restored returns how often a stored custom resource was decoded by its schema.
func restored(s *apiservertest.Server, version, plural string) *int {
	n, res := new(int), s.Types.Lookup("example.com", version, plural)
	restore := res.Restore
	res.Restore = func(obj runtime.Object) error { *n++; return restore(obj) }
	return n
}

// specIn is the spec of an object as JSON.
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

// TestDryRunOfOwn: what a dry run would store is not taken for what this server has stored at the same revision.
func TestDryRunOfOwn(t *testing.T) {
	s := apiservertest.Start(t, nil)
	s.Put(t, "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com", crontabs)
	must(t, s.Do("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", nil), http.StatusOK)
	const document = `{"apiVersion":"example.com/v1","kind":"CronTab",` +
		`"metadata":{"name":"a","finalizers":null,"labels":{}},"spec":{"i":1}}`
	must(t, s.Do("POST", crontab, document), http.StatusCreated)
	for _, query := range []string{"?fieldManager=m&force=true&dryRun=All", "?fieldManager=m&force=true"} {
		a := must(t, s.Do("PATCH", crontab+"/a"+query, document, "Content-Type", applyPatch), http.StatusOK)
		var got struct{ Metadata map[string]any }
		if err := json.Unmarshal(a.Body, &got); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"finalizers", "labels"} {
			if v, found := got.Metadata[name]; found {
				t.Errorf("%s: %s are %v", query, name, v)
			}
		}
	}
}

// TestSchemaChanges: an object that this server has written is read by the schema that the definition has now.
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

// TestOwnOfOlderVersion: a write in a version that is not stored is not defaulted by the schema of the one that is, and
// so it has to be when it is read.
func TestOwnOfOlderVersion(t *testing.T) {
	s := apiservertest.Start(t, nil)
	defineVersions(t, s)
	must(t, s.Do("POST", older, thing(older, "x", `{"a":1}`)), http.StatusCreated)
	if got := specIn(t, s.Do("GET", newer+"/x", nil)); got != `{"a":1,"n":"set"}` {
		t.Errorf("it is read as %s", got)
	}
	must(t, s.Do("POST", newer, thing(newer, "y", `{"a":1,"b":"b"}`)), http.StatusCreated)
	if got := specIn(t, s.Do("GET", older+"/y", nil)); got != `{"a":1}` {
		t.Errorf("it is read as %s", got)
	}
	if got := specIn(t, s.Do("GET", newer+"/y", nil)); got != `{"a":1,"b":"b","n":"set"}` {
		t.Errorf("it is read as %s", got)
	}
	must(t, s.Do("PATCH", older+"/y", `{"spec":{"a":2}}`), http.StatusOK)
	if got := specIn(t, s.Do("GET", newer+"/y", nil)); got != `{"a":2,"n":"set"}` { // b is pruned by v1beta1's schema
		t.Errorf("it is read as %s", got)
	}
}

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
		"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`), http.StatusOK)
}

// thing is a thing's JSON in the version of a path.
func thing(collection, name, spec string) string {
	version := strings.Split(collection, "/")[3]
	return `{"apiVersion":"example.com/` + version + `","kind":"Thing","metadata":{"name":"` + name + `"},"spec":` + spec +
		`}`
}
