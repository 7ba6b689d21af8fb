package endpoints_test

import (
	"net/http"
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
	merge := []string{"Content-Type", mergePatch}
	for _, c := range []struct {
		method, path, body string
		header             []string
		code               int
	}{
		{"POST", configmaps, `{"metadata":{"generateName":"g-"}}`, nil, 201},
		{"PUT", configmaps + "/a", `{"metadata":{"name":"a"},"data":{"k":"v"}}`, nil, 200},
		{"PUT", "/api/v1/namespaces/default/limitranges/l", `{"metadata":{"name":"l"}}`, nil, 201},
		{"PATCH", configmaps + "/a", `{"data":{"k":"v"}}`, merge, 200},
		{
			"PATCH", configmaps + "/a", `[{"op":"add","path":"/data","value":{"k":"v"}}]`,
			[]string{"Content-Type", "application/json-patch+json"}, 200,
		},
		{
			"PATCH", configmaps + "/a", `{"data":{"k":"v"}}`, []string{"Content-Type", "application/strategic-merge-patch+json"},
			200,
		},
		{
			"PATCH", configmaps + "/new?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}}`,
			[]string{"Content-Type", "application/apply-patch+yaml"}, 201,
		},
		{
			"PATCH", configmaps + "/a?fieldManager=m",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}`,
			[]string{"Content-Type", "application/apply-patch+yaml"}, 200,
		},
		{"PATCH", configmaps + "/f", `{"metadata":{"finalizers":null}}`, merge, 200}, // would remove it
		{"DELETE", configmaps + "/a", "", nil, 200},
		{"DELETE", configmaps + "/a?propagationPolicy=Foreground", "", nil, 200},
		{"DELETE", configmaps, "", nil, 200},
		{"DELETE", pods + "/p", "", nil, 200},
		{"DELETE", pods + "/p?gracePeriodSeconds=0", "", nil, 200},
		{"POST", pods + "/p/eviction", `{"metadata":{"name":"p"}}`, nil, 201},
		{"POST", pods + "/q/binding", `{"metadata":{"name":"q"},"target":{"name":"n"}}`, nil, 201},
		{"POST", "/api/v1/namespaces/default/bindings", `{"metadata":{"name":"q"},"target":{"name":"n"}}`, nil, 201},
		{"PATCH", pods + "/p/status", `{"status":{"phase":"Running"}}`, merge, 200},
		{"PATCH", replicasets + "/r/scale", `{"spec":{"replicas":5}}`, merge, 200},
		{"PUT", replicasets + "/r/scale", `{"metadata":{"name":"r"},"spec":{"replicas":5}}`, nil, 200},
		{"POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}}`, nil, 201},
		{"DELETE", "/api/v1/namespaces/n", "", nil, 200},
		{"PUT", "/api/v1/namespaces/n/finalize", `{"metadata":{"name":"n"},"spec":{"finalizers":[]}}`, nil, 200},
		{"POST", nodes, `{"metadata":{"name":"n"}}`, nil, 201},
	} {
		sep := "?"
		for _, ch := range c.path {
			if ch == '?' {
				sep = "&"
			}
		}
		var body any
		if c.body != "" {
			body = c.body
		}
		a := s.Do(c.method, c.path+sep+"dryRun=All", body, c.header...)
		if a.Code != c.code {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.path, a.Code, c.code, a.Body)
		}
		if after, err := s.Store.Revision(t.Context()); err != nil || after != before {
			t.Fatalf("%s %s wrote: revision %d after %d, %v", c.method, c.path, after, before, err)
		}
	}
}
