package endpoints_test

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestUnreadableValue: requests for an unreadable object receive a clear Status, and no others are affected.
func TestUnreadableValue(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 3)
	w := s.Watch(configmaps + "?watch=1")
	for range 3 {
		next(t, w)
	}
	s.Put(t, "/registry/configmaps/default/m01", "garbage")
	s.Put(t, "/registry/configmaps/default/new", "\x00\x01")
	for _, c := range []struct{ method, path, body, media string }{
		{"GET", "/m01", "", ""},
		{"GET", "/m01?resourceVersion=0", "", ""},
		{"PUT", "/m01", `{"metadata":{"name":"m01"}}`, "application/json"},
		{"PATCH", "/m01", `{}`, mergePatch},
		{"DELETE", "/m01", `{}`, "application/json"},
	} {
		a := s.Do(c.method, configmaps+c.path, c.body, "Content-Type", c.media)
		st := a.Status()
		if a.Code != http.StatusInternalServerError || st.Reason != metav1.StatusReasonInternalError ||
			!strings.Contains(st.Message, "/registry/configmaps/default/m01") {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.Code, a.Body)
		}
	}
	must(t, s.Do("POST", configmaps, configmap("m01", nil, nil)), http.StatusConflict)
	if n := metric(t, s, "kubecascade_corrupt_objects_total"); n == 0 {
		t.Error("not counted")
	}
	for _, accept := range []string{"application/json", "application/yaml", asTable, mediaProtobuf, asMetadatas} {
		a := must(t, s.Do("GET", configmaps, nil, "Accept", accept), http.StatusOK)
		if !strings.Contains(string(a.Body), "m00") || !strings.Contains(string(a.Body), "m02") {
			t.Errorf("list in %s: %s", accept, a.Body)
		}
		if w := a.Header.Values("Warning"); len(w) != 1 || !strings.HasPrefix(w[0], `299 - "configmaps that can't be `+
			`read are missing from the list (2): storage: corrupt value: /registry/configmaps/default/m01: `) {
			t.Errorf("list in %s: %q", accept, w)
		}
	}
	// A watch sees it as deleted, and as added when it can be read again.
	if e := next(t, w); e.Type != "DELETED" || e.Object.GetName() != "m01" {
		t.Errorf("%s %s", e.Type, e.Object.GetName())
	}
	s.Put(
		t, "/registry/configmaps/default/m01",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m01","namespace":"default","uid":"u"}}`,
	)
	if e := next(t, w); e.Type != "ADDED" || e.Object.GetName() != "m01" {
		t.Errorf("%s %s", e.Type, e.Object.GetName())
	}
	// A DELETE of the collection keeps objects that can't be read.
	must(t, s.Do("DELETE", configmaps, nil), http.StatusOK)
	if left := must(t, s.Do("GET", configmaps, nil), http.StatusOK).List().Items; len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// TestOddValue: a value is JSON with metadata, but not an object of its kind: clients' decoders would reject a whole
// list with it. So a request for it receives a clear Status, and lists and watches omit it.
func TestOddValue(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 2)
	forms := []string{"application/json", "application/yaml", mediaProtobuf, asTable, asMetadata}
	var watches []*apiservertest.Watch
	for _, accept := range []string{"application/json", asTable} {
		watches = append(watches, s.Watch(configmaps+"?watch=1&resourceVersion="+
			must(t, s.Do("GET", configmaps, nil), http.StatusOK).List().GetResourceVersion(), "Accept", accept))
	}
	odd := map[string]string{
		"odd-type":    `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"odd-type","namespace":"default"},"data":7}`,
		"odd-kind":    `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"odd-kind","namespace":"default"}}`,
		"odd-group":   `{"kind":"ConfigMap","apiVersion":"apps/v1","metadata":{"name":"odd-group","namespace":"default"}}`,
		"odd-nothing": `{"metadata":{"name":"odd-nothing","namespace":"default"}}`,
	}
	for name, value := range odd {
		s.Put(t, "/registry/configmaps/default/"+name, value)
	}
	for name := range odd {
		for _, accept := range forms {
			a := s.Do("GET", configmaps+"/"+name, nil, "Accept", accept)
			if a.Code != http.StatusInternalServerError ||
				!strings.Contains(string(a.Body), "/registry/configmaps/default/"+name) {
				t.Errorf("%s as %s: %d %s", name, accept, a.Code, a.Body)
			}
		}
		must(
			t, s.Do("PATCH", configmaps+"/"+name, `{"data":null}`, "Content-Type", mergePatch), http.StatusInternalServerError,
		)
		must(t, s.Do("DELETE", configmaps+"/"+name, nil), http.StatusInternalServerError)
	}
	for _, accept := range append(forms[:len(forms)-1:len(forms)-1], asMetadatas) {
		a := must(t, s.Do("GET", configmaps, nil, "Accept", accept), http.StatusOK)
		body := string(a.Body)
		if strings.Contains(body, "odd-") || !strings.Contains(body, "m00") || !strings.Contains(body, "m01") {
			t.Errorf("list as %s: %s", accept, body)
		}
	}
	if n := metric(t, s, "kubecascade_corrupt_objects_total"); n == 0 {
		t.Error("not counted")
	}
	must(t, s.Do("POST", configmaps, configmap("after", nil, nil)), http.StatusCreated)
	for _, w := range watches {
		if e := next(t, w); !strings.Contains(mustJSON(t, e.Object), "after") {
			t.Errorf("%v", e.Object)
		}
	}
}

// TestBrokenNeighbours: objects that the server reads while it processes a request may be unreadable, too.
func TestBrokenNeighbours(t *testing.T) {
	s := apiservertest.Start(t, nil)
	s.Put(t, "/registry/priorityclasses/broken", "garbage")
	s.Put(t, "/registry/services/specs/default/broken", "garbage")
	s.Put(t, "/registry/namespaces/broken", "garbage")
	s.Put(t, "/registry/poddisruptionbudgets/default/broken", "garbage")
	must(t, s.Do(
		"POST", "/api/v1/namespaces/default/pods",
		`{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`,
	), http.StatusCreated)
	must(
		t, s.Do("POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}}`),
		http.StatusCreated,
	)
	a := must(
		t, s.Do("POST", "/api/v1/namespaces/broken/configmaps", configmap("a", nil, nil)), http.StatusInternalServerError,
	)
	if a.Status().Reason != metav1.StatusReasonInternalError {
		t.Errorf("%s", a.Body)
	}
	must(t, s.Do("GET", "/api/v1/namespaces", nil), http.StatusOK)
	must(t, s.Do("GET", "/readyz", nil), http.StatusOK)
}
