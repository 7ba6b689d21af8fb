package endpoints_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage/cache"
)

const applyPatch = "application/apply-patch+yaml"

// large is almost the maximum size of an etcd request, 1.5 MiB.
const large = 1400 << 10

// deployment returns a body with an environment variable of size bytes.
func deployment(name, letter string, size int) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"` + name +
		`"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
		"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"E","value":"` + strings.Repeat(
		letter, size,
	) + `"}]}]}}}}`
}

// envOf returns the first and the last letter of the variable, and its length.
func envOf(o map[string]any) string {
	spec := o["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	v := spec["containers"].([]any)[0].(map[string]any)["env"].([]any)[0].(map[string]any)["value"].(string)
	return v[:1] + v[len(v)-1:] + strconv.Itoa(len(v))
}

// TestLargeObjects: objects of 1.4 MiB are created, changed in each way, listed in pages, watched and deleted.
func TestLargeObjects(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, &apiservertest.Options{Cache: cache.Options{Bytes: 4 << 20, TimelineBytes: 16 << 20}})
	const path = "/apis/apps/v1/namespaces/default/deployments"
	start := must(t, s.Do("GET", path, nil), http.StatusOK).List().GetResourceVersion()
	w := s.Watch(path + "?watch=1&resourceVersion=" + start)
	event := func(typ, name, env string) {
		t.Helper()
		if e := next(t, w); e.Type != typ || e.Object.GetName() != name || envOf(e.Object.Object) != env {
			t.Fatalf("%s %s", e.Type, e.Object.GetName())
		}
	}
	is := func(letter string) string { return letter + letter + strconv.Itoa(large) }
	must(t, s.Do("POST", path, deployment("a", "p", large)), http.StatusCreated)
	event("ADDED", "a", is("p"))
	must(t, s.Do("PUT", path+"/a", deployment("a", "q", large)), http.StatusOK)
	event("MODIFIED", "a", is("q"))
	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"E","value":"` + strings.Repeat(
		"r", large) + `"}]}]}}}}`
	must(t, s.Do("PATCH", path+"/a", patch, "Content-Type", "application/strategic-merge-patch+json"), http.StatusOK)
	event("MODIFIED", "a", is("r"))
	must(t, s.Do("PATCH", path+"/a?fieldManager=m&force=true", deployment("a", "s", large), "Content-Type", applyPatch),
		http.StatusOK)
	event("MODIFIED", "a", is("s"))
	must(t, s.Do("PATCH", path+"/b?fieldManager=m", deployment("b", "t", large), "Content-Type", applyPatch),
		http.StatusCreated)
	event("ADDED", "b", is("t"))
	first := must(t, s.Do("GET", path+"?limit=1", nil), http.StatusOK).List()
	second := must(t, s.Do("GET", path+"?limit=1&continue="+first.GetContinue(), nil), http.StatusOK).List()
	if envOf(first.Items[0].Object) != is("s") || envOf(second.Items[0].Object) != is("t") {
		t.Error("the list has other objects")
	}
	old := must(t, s.Do("GET", path+"?limit=1", nil), http.StatusOK).List()
	for i := range 4 { // more than the history may hold
		must(t, s.Do("PUT", path+"/b", deployment("b", string(rune('A'+i)), large)), http.StatusOK)
		event("MODIFIED", "b", is(string(rune('A'+i))))
	}
	past := must(t, s.Do("GET", path+"?limit=1&continue="+old.GetContinue(), nil), http.StatusOK).List()
	if envOf(past.Items[0].Object) != is("t") {
		t.Error("the page at an older revision has another object")
	}
	if e, err := s.Watch(path + "?watch=1&resourceVersion=" + start).Next(); err != nil || e.Type != "ERROR" ||
		fmt.Sprint(e.Object.Object["code"]) != "410" {
		t.Errorf("a watch from before the history: %s, %v", e.Type, err)
	}
	must(t, s.Do("DELETE", path+"/a", nil), http.StatusOK)
	event("DELETED", "a", is("s"))
}
