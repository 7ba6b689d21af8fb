package loopback_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// defined starts a server with the controller of definitions, which ends with the test.
func defined(t testing.TB, o *apiservertest.Options) *apiservertest.Server {
	s := apiservertest.Start(t, o)
	starts(t, s, "customresourcedefinition-controller")
	return s
}

// widgets returns a definition; version is the rest of a version's fields for each name.
func widgets(plural, kind string, versions ...string) string {
	return fmt.Sprintf(`{"metadata":{"name":"%s.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":%q,"kind":%q},"versions":[%s]}}`,
		plural, plural, kind, strings.Join(versions, ","))
}

func version(name string, storage bool, properties, more string) string {
	return fmt.Sprintf(
		`{"name":%q,"served":true,"storage":%v,"schema":{"openAPIV3Schema":{"type":"object","properties":{%s}}}%s}`, name,
		storage, properties, more)
}

const size = `"spec":{"type":"object","properties":{"size":{"type":"integer","default":3,"maximum":10},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`

// reaches reads a watch of definitions up to a state of one.
func reaches(
	t testing.TB, w *apiservertest.Watch, name string, f func(*apiextensionsv1.CustomResourceDefinition) bool,
) {
	t.Helper()
	eventually(t, w, name, func(e apiservertest.Event) bool {
		d := &apiextensionsv1.CustomResourceDefinition{}
		return e.Object.GetName() == name && e.Type != "DELETED" &&
			runtime.DefaultUnstructuredConverter.FromUnstructured(e.Object.Object, d) == nil && f(d)
	})
}

func is(d *apiextensionsv1.CustomResourceDefinition, typ apiextensionsv1.CustomResourceDefinitionConditionType,
	status apiextensionsv1.ConditionStatus, reason string) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == typ && c.Status == status && c.Reason == reason
	})
}

func isEstablished(d *apiextensionsv1.CustomResourceDefinition) bool {
	return is(d, apiextensionsv1.Established, "True", "InitialNamesAccepted")
}

// define creates a definition and waits until it is established.
func define(t testing.TB, s *apiservertest.Server, body string) {
	t.Helper()
	w := s.Watch(definitions + "?watch=1")
	do(t, s, "POST", definitions, body)
	var d struct{ Metadata struct{ Name string } }
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatal(err)
	}
	reaches(t, w, d.Metadata.Name, isEstablished)
}

const v1widgets = "/apis/example.com/v1/namespaces/default/widgets"

// apply is the header of a server-side apply.
var apply = []string{"Content-Type", "application/apply-patch+yaml"}

// widget returns a widget of a version of the API; an empty spec is left out.
func widget(version, name, spec string) string {
	if spec != "" {
		spec = `,"spec":{` + spec + `}`
	}
	return fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Widget","metadata":{"name":%q}%s}`, version, name, spec)
}

// TestServedAtOnce: a client that sees an established definition finds its resource served, everywhere.
func TestServedAtOnce(t *testing.T) {
	apiservertest.Sequential(t)
	s := defined(t, nil)
	for i := range 20 {
		plural := fmt.Sprintf("things%d", i)
		define(t, s, widgets(plural, fmt.Sprintf("Thing%d", i), version("v1", true, size, "")))
		path := "/apis/example.com/v1/namespaces/default/" + plural
		do(t, s, "POST", path, fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing%d","metadata":{"name":"a"}}`, i))
		expect(t, s.Do("GET", "/apis/example.com/v1", nil), http.StatusOK, `"`+plural+`"`)
		expect(t, s.Do("GET", "/openapi/v3/apis/example.com/v1", nil), http.StatusOK, fmt.Sprint("com.example.v1.Thing", i))
	}
}

// TestNameInUseIsAcceptedWhenFree: a name in use is rejected, and accepted for a waiting CRD when it becomes free.
func TestNameInUseIsAcceptedWhenFree(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	w := s.Watch(definitions + "?watch=1")
	do(t, s, "POST", definitions, widgets("gadgets", "Widget", version("v1", true, size, "")))
	reaches(t, w, "gadgets.example.com", func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return is(d, apiextensionsv1.NamesAccepted, "False", "ListKindConflict") &&
			is(d, apiextensionsv1.Established, "False", "NotAccepted")
	})
	expect(t, s.Do("GET", "/apis/example.com/v1/gadgets", nil), http.StatusNotFound)
	do(t, s, "DELETE", definitions+"/widgets.example.com", "")
	reaches(t, w, "gadgets.example.com", isEstablished)
	do(t, s, "GET", "/apis/example.com/v1/gadgets", "")
}

// TestDefinitionGoes: its objects go first, their finalizers honoured; meanwhile none is created.
func TestDefinitionGoes(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"other"}}`)
	do(t, s, "POST", "/apis/example.com/v1/namespaces/other/widgets", widget("v1", "b", ""))
	do(t, s, "POST", v1widgets,
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","finalizers":["example.com/hold"]}}`)
	w, objects := s.Watch(definitions+"?watch=1"), s.Watch("/apis/example.com/v1/widgets?watch=1")
	// C-84
	const crd = definitions + "/widgets.example.com"
	expect(t, s.Do("DELETE", crd, nil), http.StatusOK, `"reason":"InstanceDeletionPending"`)
	// A client that knows of the deletion never finds that it has not begun.
	expect(t, s.Do("GET", crd, nil), http.StatusOK, `"reason":"InstanceDeletionInProgress"`, `"generation":1,`)
	for _, reason := range []string{"InstanceDeletionPending", "InstanceDeletionInProgress"} {
		reaches(t, w, "widgets.example.com", func(d *apiextensionsv1.CustomResourceDefinition) bool {
			return is(d, apiextensionsv1.Terminating, "True", reason)
		})
	}
	gone(t, objects, "b")
	late := widget("v1", "late", "")
	for _, a := range []apiservertest.Answer{
		s.Do("POST", v1widgets, late), s.Do("PATCH", v1widgets+"/late?fieldManager=m", late, apply...),
	} {
		expect(t, a, http.StatusForbidden, `widgets.example.com \"late\" is forbidden: create not allowed while custom `+
			`resource definition is terminating`)
	}
	do(t, s, "PATCH", v1widgets+"/a", `{"metadata":{"finalizers":null}}`)
	gone(t, objects, "a")
	gone(t, w, "widgets.example.com")
	expect(t, s.Do("GET", v1widgets, nil), http.StatusNotFound, "404 page not found\n")
}

// TestRestartWithDefinitions: another server on the same store serves them as soon as it is ready.
func TestRestartWithDefinitions(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	do(t, s, "POST", v1widgets, widget("v1", "a", ""))
	again := apiservertest.Start(t, &apiservertest.Options{Store: s.Store})
	do(t, again, "GET", v1widgets+"/a", "")
	do(t, again, "DELETE", v1widgets+"/a", "")
}

// TestWatchEndsWithItsDefinition: a watch ends when the definition's spec changes, in all versions, after the events
// before the change (H-38), and when the definition is deleted. Changes of its metadata don't matter.
func TestWatchEndsWithItsDefinition(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, ""), version("v2", false, size, "")))
	watches := func() (all []*apiservertest.Watch) {
		return []*apiservertest.Watch{s.Watch(v1widgets + "?watch=1"), s.Watch(v2widgets + "?watch=1")}
	}
	next := func(all []*apiservertest.Watch, typ, name string) {
		t.Helper()
		for i, w := range all {
			e, err := w.Next()
			if err != nil || e.Type != typ || e.Object.GetName() != name ||
				e.Object.GetAPIVersion() != []string{"example.com/v1", "example.com/v2"}[i] {
				t.Fatal(e, err)
			}
		}
	}
	ended := func(all []*apiservertest.Watch) {
		t.Helper()
		for _, w := range all {
			if e, err := w.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("after the change: %v %v", e, err)
			}
		}
	}
	patch := func(body string) {
		t.Helper()
		do(t, s, "PATCH", definitions+"/widgets.example.com", body)
	}
	first := watches()
	do(t, s, "POST", v1widgets, widget("v1", "a", ""))
	next(first, "ADDED", "a")
	patch(`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`)
	do(t, s, "POST", v1widgets, widget("v1", "b", ""))
	next(first, "ADDED", "b")
	patch(`[{"op":"add","path":"/spec/versions/1/schema/openAPIV3Schema/properties/spec/properties/color",
		"value":{"type":"string"}}]`)
	ended(first)
	second := watches()
	next(second, "ADDED", "a")
	next(second, "ADDED", "b")
	do(t, s, "DELETE", definitions+"/widgets.example.com", "")
	next(second, "DELETED", "a")
	next(second, "DELETED", "b")
	ended(second)
}

// TestBookmarksOfVersions have the version of the watch and nothing that a schema adds.
func TestBookmarksOfVersions(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets(
		"widgets", "Widget", version("v1", true, `"spec":{"type":"object","default":{}}`, ""), version("v2", false, size, ""),
	))
	for _, version := range []string{"v1", "v2"} {
		w := s.Watch("/apis/example.com/" + version +
			"/widgets?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan")
		e, err := w.Next()
		if err != nil || e.Type != "BOOKMARK" || e.Object.GetAPIVersion() != "example.com/"+version ||
			e.Object.Object["spec"] != nil {
			t.Error(e, err)
		}
	}
}

// TestUnservedDefinitionGoes: the objects of a definition that is served in no version go with it, and
// what depends on them.
func TestUnservedDefinitionGoes(t *testing.T) {
	s := defined(t, nil)
	collect(t, s)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	do(t, s, "POST", v1widgets, widget("v1", "a", ""))
	do(t, s, "POST", v1widgets,
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"b","finalizers":["example.com/hold"]}}`)
	owner := s.Do("GET", v1widgets+"/a", nil).Object()
	create(t, s, configMaps, "c", map[string]any{"ownerReferences": []any{reference(owner, true)}}, nil)
	serve := func(served string) {
		t.Helper()
		do(t, s, "PATCH", definitions+"/widgets.example.com",
			`[{"op":"replace","path":"/spec/versions/0/served","value":`+served+`}]`)
	}
	serve("false")
	w, dependents := s.Watch(definitions+"?watch=1"), s.Watch("/api/v1/configmaps?watch=1")
	do(t, s, "DELETE", definitions+"/widgets.example.com", "")
	gone(t, dependents, "c")
	serve("true") // the other one has a client's finalizer
	do(t, s, "PATCH", v1widgets+"/b", `{"metadata":{"finalizers":null}}`)
	gone(t, w, "widgets.example.com")
}

// TestLargeSchemas: a schema that fits into a request works as any other; one that doesn't is rejected, and this has no
// effect on others.
func TestLargeSchemas(t *testing.T) {
	apiservertest.Sequential(t)
	s := defined(t, nil)
	large := func(bytes int) string {
		text := strings.Repeat("a", 1000)
		var properties []string
		for i := range bytes / 1050 {
			properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string","description":%q}`, i, text))
		}
		spec := `"spec":{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`
		return widgets("widgets", "Widget", version("v1", true, spec, ""))
	}
	for _, c := range []struct{ bytes, code int }{{4 << 20, 413}, {3 << 20, 413}, {1 << 20, 201}} {
		w := s.Watch(definitions + "?watch=1")
		a := s.Do("POST", definitions, large(c.bytes))
		if a.Code != c.code {
			t.Fatalf("%d bytes: %d %.300s", c.bytes, a.Code, a.Body)
		}
		if c.code == 201 {
			reaches(t, w, "widgets.example.com", isEstablished)
		}
	}
	expect(t, s.Do("POST", v1widgets, widget("v1", "a", `"p1":"x","p2":2`)), http.StatusUnprocessableEntity,
		"spec.p2 in body must be of type string")
	do(t, s, "PATCH", v1widgets+"/b?fieldManager=m", widget("v1", "b", `"p1":"x"`), apply...)
	if a := s.Do("GET", "/openapi/v3/apis/example.com/v1", nil); len(a.Body) < 1<<20 {
		t.Errorf("%d %d bytes", a.Code, len(a.Body))
	}
}
