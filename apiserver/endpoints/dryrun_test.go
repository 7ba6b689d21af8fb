package endpoints_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestDryRun: every verb has the response of the real request, and etcd counts no write (B-70, A-39, C-65).
func TestDryRun(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const pods, nodes = "/api/v1/namespaces/default/pods", "/api/v1/nodes"
	pod := `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`
	replicaset := `{"metadata":{"name":"r"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	replicasets := "/apis/apps/v1/namespaces/default/replicasets"
	must(t, s.Do("POST", configmaps, `{"metadata":{"name":"a"}}`), http.StatusCreated)
	must(t, s.Do("POST", configmaps, `{"metadata":{"name":"f","finalizers":["a.io/x"]}}`), http.StatusCreated)
	must(t, s.Do("DELETE", configmaps+"/f", nil), http.StatusOK)
	must(t, s.Do("POST", pods, pod), http.StatusCreated)
	must(
		t, s.Do("POST", pods, `{"metadata":{"name":"q"},"spec":{"containers":[{"name":"c","image":"i"}]}}`),
		http.StatusCreated,
	)
	must(t, s.Do("POST", replicasets, replicaset), http.StatusCreated)
	must(t, s.Do("POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`), http.StatusCreated)
	before, err := s.Store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body string
		media              string
		code               int
	}{
		{"POST", configmaps, `{"metadata":{"generateName":"g-"}}`, "", 201},
		{"PUT", configmaps + "/a", `{"metadata":{"name":"a"},"data":{"k":"v"}}`, "", 200},
		{"PUT", "/api/v1/namespaces/default/limitranges/l", `{"metadata":{"name":"l"}}`, "", 201},
		{"PATCH", configmaps + "/a", `{"data":{"k":"v"}}`, "", 200},
		{"PATCH", configmaps + "/a", `[{"op":"add","path":"/data","value":{"k":"v"}}]`, "", 200},
		{"PATCH", configmaps + "/a", `{"data":{"k":"v"}}`, "application/strategic-merge-patch+json", 200},
		{
			"PATCH", configmaps + "/new?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}}`,
			applyPatch, 201,
		},
		{
			"PATCH", configmaps + "/a?fieldManager=m",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}`,
			applyPatch, 200,
		},
		{"PATCH", configmaps + "/f", `{"metadata":{"finalizers":null}}`, "", 200}, // would remove it
		{"DELETE", configmaps + "/a", "", "", 200},
		{"DELETE", configmaps + "/a?propagationPolicy=Foreground", "", "", 200},
		{"DELETE", configmaps, "", "", 200},
		{"DELETE", pods + "/p", "", "", 200},
		{"DELETE", pods + "/p?gracePeriodSeconds=0", "", "", 200},
		{"POST", pods + "/p/eviction", `{"metadata":{"name":"p"}}`, "", 201},
		{"POST", pods + "/q/binding", `{"metadata":{"name":"q"},"target":{"name":"n"}}`, "", 201},
		{"POST", "/api/v1/namespaces/default/bindings", `{"metadata":{"name":"q"},"target":{"name":"n"}}`, "", 201},
		{"PATCH", pods + "/p/status", `{"status":{"phase":"Running"}}`, "", 200},
		{"PATCH", replicasets + "/r/scale", `{"spec":{"replicas":5}}`, "", 200},
		{"PUT", replicasets + "/r/scale", `{"metadata":{"name":"r"},"spec":{"replicas":5}}`, "", 200},
		{"POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}}`, "", 201},
		{"DELETE", "/api/v1/namespaces/n", "", "", 200},
		{"PUT", "/api/v1/namespaces/n/finalize", `{"metadata":{"name":"n"},"spec":{"finalizers":[]}}`, "", 200},
		{"POST", nodes, `{"metadata":{"name":"n"}}`, "", 201},
	} {
		sep := "?"
		if strings.Contains(c.path, "?") {
			sep = "&"
		}
		a := s.Do(c.method, c.path+sep+"dryRun=All", c.body, "Content-Type", c.media)
		if a.Code != c.code {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.path, a.Code, c.code, a.Body)
		}
		if after, err := s.Store.Revision(t.Context()); err != nil || after != before {
			t.Fatalf("%s %s wrote: revision %d after %d, %v", c.method, c.path, after, before, err)
		}
	}
}
