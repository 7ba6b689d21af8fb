package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// list returns a page of a list in JSON.
func list(next string, items ...string) string {
	return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"continue":"` + next +
		`"},"items":[` + strings.Join(items, ",") + `]}`
}

func item(namespace, name, more string) string {
	return `{"metadata":{"namespace":"` + namespace + `","name":"` + name + `","uid":"` + namespace + name + `"` +
		more + `}}`
}

func pod(name, spec, phase string) string {
	return strings.TrimSuffix(item("ns", name, ""), "}") + `,"spec":` + spec + `,"status":{"phase":"` + phase + `"}}`
}

// old returns a server without aggregated discovery and without metadata-only lists, as plain as can be.
func old(t *testing.T, answers map[string]string) *Client {
	t.Helper()
	base := map[string]string{
		"/api":  `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis": `{"kind":"APIGroupList","groups":[]}`,
		"/api/v1": `{"kind":"APIResourceList","resources":[
			{"name":"configmaps","singularName":"configmap","shortNames":["cm"],"kind":"ConfigMap","namespaced":true,
				"verbs":["list"]},
			{"name":"secrets","singularName":"","kind":"Secret","namespaced":true,"verbs":["list"]},
			{"name":"pods","singularName":"pod","kind":"Pod","namespaced":true,"verbs":["list"]},
			{"name":"pods/log","kind":"Pod","namespaced":true,"verbs":["get"]},
			{"name":"bindings","kind":"Binding","namespaced":true,"verbs":["create"]}]}`,
		"/api/v1/configmaps": list(""), "/api/v1/secrets": list(""), "/api/v1/pods": list(""),
	}
	for k, v := range answers {
		base[k] = v
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.URL.Path
		for _, p := range []string{"continue", "fieldSelector", "labelSelector"} {
			if v := r.URL.Query().Get(p); v != "" {
				key += "?" + p + "=" + v
			}
		}
		answer, ok := base[key]
		w.Header().Set("Content-Type", "application/json")
		switch code, body, failed := strings.Cut(answer, "!"); {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case failed:
			w.WriteHeader(map[string]int{"403": 403, "404": 404, "410": 410, "503": 503}[code])
			_, _ = w.Write([]byte(strings.Replace(body, `"Status",`,
				`"Status","apiVersion":"v1","status":"Failure","code":`+code+`,`, 1)))
		default:
			_, _ = w.Write([]byte(answer))
		}
	}))
	t.Cleanup(s.Close)
	return &Client{URL: s.URL, HTTP: s.Client()}
}

func read(t *testing.T, c *Client, o Options) *explain.Cluster {
	t.Helper()
	o.Now = time.Now
	got, _, err := Read(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func names(c *explain.Cluster) (all []string) {
	for _, o := range c.Objects {
		all = append(all, o.Key.String())
	}
	slices.Sort(all)
	return all
}

// TestOldServersAreRead reads a server that has neither aggregated discovery nor metadata-only lists, page by page.
func TestOldServersAreRead(t *testing.T) {
	c := old(t, map[string]string{
		"/api/v1/configmaps":              list("two", item("ns", "a", "")),
		"/api/v1/configmaps?continue=two": `410!{"kind":"Status","message":"too old","metadata":{"continue":"rest"}}`,
		"/api/v1/configmaps?continue=rest": list("", item("ns", "b", `,"ownerReferences":[
			{"apiVersion":"v1","kind":"Secret","name":"late","uid":"nslate","controller":true,"blockOwnerDeletion":true},
			{"apiVersion":"v1","kind":"Secret","name":"never","uid":"nsnever"}],
			"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["example.com/hold"],"managedFields":[{"manager":"operator","fieldsV1":
				{"f:metadata":{"f:finalizers":{".":{},"v:\"example.com/hold\"":{}}}}}]`)),
		"/api/v1/namespaces/ns/secrets/late": `{"kind":"Secret","apiVersion":"v1",` + item("ns", "late", "")[1:],
		"/api/v1/pods": list("rest", pod("on", `{"nodeName":"n","terminationGracePeriodSeconds":5,
			"volumes":[{"persistentVolumeClaim":{"claimName":"c"}},{"name":"e","ephemeral":{}}]}`, ""), pod("free",
			`{"schedulingGroup":{"podGroupName":"g"},"volumes":[{"persistentVolumeClaim":{"claimName":"c"}}]}`, "")),
		"/api/v1/pods?continue=rest": list("", pod("done", `{"nodeName":"n","schedulingGroup":{"podGroupName":"g"}}`, "Succeeded")),
	})
	got := read(t, c, Options{})
	want := []string{"configmaps/ns/a", "configmaps/ns/b", "pods/ns/done", "pods/ns/free", "pods/ns/on", "secrets/ns/late"}
	if !slices.Equal(names(got), want) {
		t.Errorf("objects %v, expected %v", names(got), want)
	}
	pods := map[string]string{}
	for _, o := range got.Objects {
		if p := o.Pod; p != nil {
			pods[o.Name] = fmt.Sprintf("%s %t %d %s", p.Node, p.Finished, *p.GraceSeconds, o.Uses)
		}
		if o.Name == "b" && (o.Controller != "nslate" || !o.Owners[0].Block || o.Owners[1].Block ||
			o.Setters["example.com/hold"] != "operator") {
			t.Errorf("%+v", o)
		}
	}
	claims := "[[persistentvolumeclaims/ns/c] [persistentvolumeclaims/ns/on-e]]"
	if want := map[string]string{
		"on": "n false 5 " + claims, "free": " false 30 [[podgroups.scheduling.k8s.io/ns/g]]", "done": "n true 30 []",
	}; !maps.Equal(pods, want) {
		t.Errorf("pods %q, expected %q", pods, want)
	}
}

// TestOwnerIsFoundByLists looks up an owner that was created between two lists, for a user who may list Secrets but get
// none.
func TestOwnerIsFoundByLists(t *testing.T) {
	const forbidden = `403!{"kind":"Status","message":"forbidden"}`
	c := old(t, map[string]string{
		"/api/v1/configmaps": list("", item("ns", "a", `,"ownerReferences":[
			{"apiVersion":"v1","kind":"Secret","name":"late","uid":"nslate"},
			{"apiVersion":"v1","kind":"Secret","name":"never","uid":"nsnever"}]`)),
		"/api/v1/namespaces/ns/secrets/late":                              forbidden,
		"/api/v1/namespaces/ns/secrets/never":                             forbidden,
		"/api/v1/namespaces/ns/secrets?fieldSelector=metadata.name=late":  list("", item("ns", "late", "")),
		"/api/v1/namespaces/ns/secrets?fieldSelector=metadata.name=never": list(""),
	})
	if got := names(read(t, c, Options{})); !slices.Equal(got, []string{"configmaps/ns/a", "secrets/ns/late"}) {
		t.Error(got)
	}
}

// TestOwnersNamesAreNoPaths: the name of an owner, or the namespace of an aggregated server's object, leads to no other
// path of the server.
func TestOwnersNamesAreNoPaths(t *testing.T) {
	for _, o := range []string{"ns ..", "ns ../../..", "ns ../../../../version", "ns a/b", "ns %2e", ".. b"} {
		ns, name, _ := strings.Cut(o, " ")
		c := old(t, map[string]string{
			"/api/v1/configmaps": list("", item(ns, "a", `,"ownerReferences":[
				{"apiVersion":"v1","kind":"Secret","name":"`+name+`","uid":"b"}]`)),
			"/api/v1/namespaces/ns": "{}", "/version": "{}", "/api/v1/namespaces/ns/secrets/a/b": "{}",
			"/api/v1/namespaces/ns/secrets/.": "{}", "/api/v1/secrets/b": item("", "b", ""),
		})
		if got := names(read(t, c, Options{})); !slices.Equal(got, []string{"configmaps/" + ns + "/a"}) {
			t.Errorf("%q: %v", o, got)
		}
	}
}

// TestRejectedLists reads resources that a user may not list.
func TestRejectedLists(t *testing.T) {
	c := old(t, map[string]string{
		"/api/v1/configmaps":               `403!{"kind":"Status","message":"forbidden"}`,
		"/api/v1/secrets":                  `403!{"kind":"Status","message":"forbidden"}`,
		"/api/v1/pods":                     `503!{"kind":"Status","message":"etcd is away"}`,
		"/api/v1/namespaces/ns/configmaps": list("", item("ns", "a", "")),
		"/api/v1/namespaces/ns/secrets":    `403!{"kind":"Status","message":"forbidden"}`,
	})
	got := read(t, c, Options{Namespace: "ns"})
	unknown := map[string]string{}
	for _, r := range got.Resources {
		unknown[r.Name()] = r.Unknown
		if want := map[string]string{"configmaps": "ns"}[r.Name()]; r.Within != want {
			t.Errorf("%s: all of namespace %q are known, expected %q", r.Name(), r.Within, want)
		}
	}
	want := map[string]string{
		"configmaps": "you may list those of namespace ns only", "secrets": "you may not list them", "pods": "etcd is away",
	}
	for name, why := range want {
		if unknown[name] != why {
			t.Errorf("%s: %q, expected %q", name, unknown[name], why)
		}
	}
	if !slices.Equal(names(got), []string{"configmaps/ns/a"}) {
		t.Error(names(got))
	}
}

// TestOneNamespace reads the objects that a user with all rights in one namespace may see.
func TestOneNamespace(t *testing.T) {
	c := old(t, map[string]string{
		"/api/v1": `{"kind":"APIResourceList","resources":[
			{"name":"namespaces","singularName":"namespace","kind":"Namespace","namespaced":false,"verbs":["list"]}]}`,
		"/api/v1/namespaces": `403!{"kind":"Status","message":"forbidden"}`,
		"/api/v1/namespaces/ns": `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"ns","uid":"nsns",
			"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"finalizers":["kubernetes"]},
			"status":{"phase":"Terminating","conditions":[{"type":"NamespaceContentRemaining","status":"True"}]}}`,
	})
	got := read(t, c, Options{Namespace: "ns"})
	if !slices.Equal(names(got), []string{"namespaces/ns"}) {
		t.Fatal(names(got))
	}
	n := got.Objects[0]
	if n.UID != "nsns" || n.Deletion.IsZero() || !slices.Equal(n.SpecFinalizers, []string{"kubernetes"}) ||
		len(n.Conditions) != 1 {
		t.Errorf("%+v, %+v", n, n.Namespace)
	}
	for _, r := range got.Resources {
		if r.Name() == "namespaces" && (r.Unknown != "you may get namespace ns only" || !r.Hides("")) {
			t.Errorf("%+v", r)
		}
	}
}

// TestUnavailableGroups discovers a server whose aggregated servers do not answer, in both forms of discovery.
func TestUnavailableGroups(t *testing.T) {
	c := old(t, map[string]string{
		"/apis": `{"kind":"APIGroupList","groups":[{"name":"metrics.k8s.io","versions":[
			{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}],"preferredVersion":{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}}]}`,
		"/apis/metrics.k8s.io/v1beta1": `503!{"kind":"Status","message":"no endpoints"}`,
		"/api/v1/pods":                 `503!{"kind":"Status","message":"gone"}`,
		"/api/v1/secrets": list("", item("ns", "s",
			`,"ownerReferences":[{"kind":"A","name":"a"},{"kind":"B"}]`)),
	})
	want := []explain.Unavailable{{Name: "v1beta1.metrics.k8s.io", Message: "no endpoints"}}
	if d, err := c.Discover(t.Context()); err != nil || !slices.Equal(d.Unavailable, want) {
		t.Errorf("%+v, %v", d, err)
	}
	owners, unknown, err := Owners(t.Context(), c)
	if err != nil || !maps.Equal(unknown, map[string]string{"*.metrics.k8s.io": "no endpoints", "pods": "gone"}) ||
		!maps.Equal(owners, map[[2]string]string{{"secrets", "ns/s"}: "A/a,B/"}) {
		t.Errorf("%q of %q, %v", owners, unknown, err)
	}
	c = old(t, map[string]string{"/apis": `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"metrics.k8s.io"},
		"versions":[{"version":"v1beta1","freshness":"Stale"}]}]}`})
	if d, err := c.Discover(t.Context()); err != nil || len(d.Unavailable) != 1 || d.Unavailable[0].Name != want[0].Name {
		t.Errorf("%+v, %v", d, err)
	}
	_, err = old(t, map[string]string{"/apis": `[]`}).Discover(t.Context())
	if want := "discovery: GET /apis: the response is not a list of API groups"; err == nil || err.Error() != want {
		t.Error(err)
	}
}

// TestGroupsAreFoundByTheIndex discovers a server that does not list its groups, by its index and its
// CustomResourceDefinitions. A server without an index serves nothing.
func TestGroupsAreFoundByTheIndex(t *testing.T) {
	crd := `{"items":[{"spec":{"group":"example.com","versions":[{"name":"v1","served":true},{"name":"v2"},
		{"name":"v1beta1","served":true}]}},{"spec":{"group":"example.com","versions":[{"name":"v1","served":true}]}}]}`
	resources := func(name, kind string) string {
		return `{"kind":"APIResourceList","resources":[{"name":"` + name + `","kind":"` + kind + `","verbs":["list"]}]}`
	}
	answers := map[string]string{
		"/":                             `{"paths":["/apis","/apis/","/apis/apiextensions.k8s.io","/apis/apiextensions.k8s.io/v1","/healthz"]}`,
		"/apis/apiextensions.k8s.io/v1": resources("customresourcedefinitions", "CustomResourceDefinition"),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": crd,
		"/apis/example.com/v1":      resources("widgets", "Widget"),
		"/apis/example.com/v1beta1": resources("widgets", "Widget"),
	}
	for _, root := range []string{"/api", "/apis"} {
		answers[root] = `404!404 page not found`
	}
	d, err := old(t, answers).Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r := d.Named("widgets.example.com"); r == nil || !slices.Equal(r.Versions, []string{"v1", "v1beta1"}) {
		t.Errorf("%+v", r)
	}
	if len(d.Resources) != 2 || len(d.Unavailable) != 0 {
		t.Errorf("%d resources, unavailable: %v", len(d.Resources), d.Unavailable)
	}
	answers["/"] = `404!404 page not found`
	if _, err := old(t, answers).Discover(t.Context()); err == nil || !strings.Contains(err.Error(), "serves no resources") {
		t.Error(err)
	}
}

// TestBrokenServer: of a server that returns the same page forever for one resource, and HTML for another, the rest is
// read; without a connection nothing is.
func TestBrokenServer(t *testing.T) {
	c := old(t, map[string]string{
		"/api/v1/configmaps": list("again"), "/api/v1/configmaps?continue=again": list("again"),
		"/api/v1/secrets": "<html>", "/api/v1/pods": list("", pod("one", "{}", "")),
	})
	got := read(t, c, Options{})
	for _, r := range got.Resources {
		if (r.Unknown == "") != (r.Plural == "pods") || r.Plural == "configmaps" && r.Unknown != errSamePage.Error() {
			t.Errorf("%s: %q", r.Plural, r.Unknown)
		}
	}
	if !slices.Equal(names(got), []string{"pods/ns/one"}) {
		t.Error(names(got))
	}
	d, err := c.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Read(ctx, c, Options{Discovery: d}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected %v", err, context.Canceled)
	}
	c.URL = "http://127.0.0.1:1"
	if _, _, err := Read(t.Context(), c, Options{Discovery: d}); err == nil || !strings.HasPrefix(err.Error(), "list of ") {
		t.Error(err)
	}
}

// TestUndecodableMetadata: a resource with metadata that can't be decoded is not known.
func TestUndecodableMetadata(t *testing.T) {
	c := old(t, map[string]string{"/api/v1/pods": list("", `{"metadata":{"name":"x","creationTimestamp":"yesterday"}}`)})
	for _, r := range read(t, c, Options{}).Resources {
		if (r.Plural == "pods") != strings.Contains(r.Unknown, "yesterday") {
			t.Errorf("%s: %q", r.Plural, r.Unknown)
		}
	}
}

// TestKubectlsNamesAreResolved finds resources by the names that kubectl takes.
func TestKubectlsNamesAreResolved(t *testing.T) {
	d := &Discovery{}
	add := func(group, version, plural, singular, kind string, short ...string) {
		d.Resources = append(d.Resources, &Resource{
			Resource: explain.Resource{Group: group, Versions: []string{version}, Kind: kind, Plural: plural},
			Singular: singular, ShortNames: short,
		})
	}
	add("", "v1", "services", "service", "Service", "svc")
	add("apps", "v1", "deployments", "deployment", "Deployment", "deploy")
	add("serving.knative.dev", "v1", "services", "service", "Service", "kservice")
	add("", "v1", "secrets", "", "Secret")
	for what, want := range map[string]string{
		"svc": "services", "Service": "services", "services.serving.knative.dev": "services.serving.knative.dev",
		"kservice": "services.serving.knative.dev", "deploy": "deployments.apps", "deployment.apps": "deployments.apps",
		"deployments.v1.apps": "deployments.apps", "deployments.v2.apps": "", "deployments.extensions": "", "nope": "", "": "",
		"service.v1.serving.knative.dev": "services.serving.knative.dev", "services.v1.": "services",
	} {
		r, err := d.Resolve(what)
		if got := ""; err == nil {
			if got = r.Name(); got != want {
				t.Errorf("%s: %s, expected %s", what, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestEachEndsWithAnError: each ends early with an error, and limits concurrent calls.
func TestEachEndsWithAnError(t *testing.T) {
	var running, calls atomic.Int32
	failed := errors.New("failed")
	err := each(t.Context(), make([]int, 1000), func(int) error {
		defer running.Add(-1)
		if n := running.Add(1); n > concurrency {
			t.Errorf("%d at a time", n)
		}
		if calls.Add(1) == 20 {
			return failed
		}
		return nil
	})
	if !errors.Is(err, failed) || calls.Load() == 1000 {
		t.Errorf("%v, %d calls", err, calls.Load())
	}
}

// FuzzSetters parses what managedFields has.
func FuzzSetters(f *testing.F) {
	f.Add([]byte(`{"f:metadata":{"f:finalizers":{".":{},"v:\"a\"":{}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		body, err := json.Marshal(map[string]any{"items": []any{map[string]any{"metadata": map[string]any{
			"managedFields": []any{map[string]any{"manager": "m", "fieldsV1": json.RawMessage(data)}},
		}}}})
		if err != nil {
			return
		}
		var page metav1.PartialObjectMetadataList
		if json.Unmarshal(body, &page) != nil {
			return
		}
		for name, manager := range setters(page.Items[0].ManagedFields) {
			if quoted, err := json.Marshal(name); err != nil || manager != "m" || name == "a" && !bytes.Contains(data, quoted[1:2]) {
				t.Errorf("%s set %q by %q: %v", data, name, manager, err)
			}
		}
	})
}
