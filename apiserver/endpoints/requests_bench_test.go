package endpoints_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// sink discards a response.
type sink struct {
	h    http.Header
	code int
}

func (s *sink) Header() http.Header         { return s.h }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(code int)        { s.code = code }

// requestOf is a request as a server gets it; without a body if that is empty.
func requestOf(b *testing.B, method, path, media, body string) *http.Request {
	b.Helper()
	r, err := http.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	if body == "" {
		r.Body = http.NoBody
	}
	r.Header.Set("Content-Type", media)
	return r
}

// BenchmarkRequest measures requests from their headers to their responses, without a connection. Writes wait for etcd.
func BenchmarkRequest(b *testing.B) {
	s := apiservertest.Start(b, nil)
	h := s.API.Insecure()
	send := func(b *testing.B, method, path, media, body string, want int) {
		r := requestOf(b, method, path, media, body)
		w := &sink{h: http.Header{}}
		if h.ServeHTTP(w, r); w.code != want && (w.code != 0 || want != http.StatusOK) {
			b.Fatal(method, path, w.code)
		}
	}
	const path = "/api/v1/namespaces/default/configmaps"
	configMap := func(name string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"a":"b"}},"data":{"k":%q}}`, name, strings.Repeat("x", 1024))
	}
	created := 0
	create := func(b *testing.B) {
		created++
		send(b, "POST", path, "application/json", configMap(fmt.Sprint("c", created)), http.StatusCreated)
	}
	for range 1000 {
		create(b)
	}
	for _, c := range []struct {
		name string
		f    func(*testing.B)
	}{
		{"get", func(b *testing.B) { send(b, "GET", path+"/c1", "", "", http.StatusOK) }},
		{"list", func(b *testing.B) { send(b, "GET", path+"?limit=1000", "", "", http.StatusOK) }},
		{"create", create},
		{"patch", func(b *testing.B) {
			created++
			send(
				b, "PATCH", path+"/c1", "application/merge-patch+json", fmt.Sprintf(`{"data":{"n":"%d"}}`, created), http.StatusOK,
			)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f(b)
			}
		})
	}
}

// BenchmarkCustomRequest measures writes of custom resources in the same way. An update is what a client sends that has
// read the object, so each is of an object that was not written since.
func BenchmarkCustomRequest(b *testing.B) {
	s := apiservertest.Start(b, nil)
	h := s.API.Insecure()
	const (
		crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		path = "/apis/example.com/v1/namespaces/default/widgets"
	)
	send := func(b *testing.B, method, path, media, body string, want int) string {
		r := requestOf(b, method, path, media, body)
		r.Header.Set("User-Agent", "bench/1")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			b.Fatal(method, path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	send(b, "POST", crds, "application/json", widgetDefinition, http.StatusCreated)
	send(b, "PATCH", crds+"/widgets.example.com/status", mergePatch, `{"status":{"storedVersions":["v1"],
		"acceptedNames":{"plural":"widgets","kind":"Widget","listKind":"WidgetList"},
		"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`, http.StatusOK)
	names := 0
	create := func(b *testing.B) string {
		names++
		name := fmt.Sprint("c", names)
		send(b, "POST", path, "application/json", `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"`+
			name+`"},"data":{"k":"v"}}`, http.StatusCreated)
		return path + "/" + name
	}
	one := create(b)
	value := 0
	next := func() string { value++; return fmt.Sprint("w", value) }
	for _, c := range []struct {
		name string
		f    func(*testing.B)
	}{
		{"get", func(b *testing.B) { send(b, "GET", one, "", "", http.StatusOK) }},
		{"create", func(b *testing.B) { create(b) }},
		{"update", func(b *testing.B) {
			was := send(b, "GET", one, "", "", http.StatusOK)
			from := strings.Index(was, `"data":{"k":"`) + len(`"data":{"k":"`)
			to := from + strings.Index(was[from:], `"`)
			send(b, "PUT", one, "application/json", was[:from]+next()+was[to:], http.StatusOK)
		}},
		{"patch", func(b *testing.B) {
			send(b, "PATCH", one, "application/merge-patch+json", fmt.Sprintf(`{"data":{"k":%q}}`, next()), http.StatusOK)
		}},
		{"apply", func(b *testing.B) {
			send(b, "PATCH", one+"?fieldManager=a", "application/apply-patch+yaml", fmt.Sprintf(
				`{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"c1"},"data":{"a":%q}}`, next()), http.StatusOK)
		}},
		{"create and delete", func(b *testing.B) { send(b, "DELETE", create(b), "", "", http.StatusOK) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f(b)
			}
		})
	}
}

// widgetDefinition defines a custom resource as that of the clients' benchmark.
const widgetDefinition = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",
	"metadata":{"name":"widgets.example.com"},
	"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},
	"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":
	{"type":"object","properties":{
	"data":{"type":"object","additionalProperties":{"type":"string"}},
	"status":{"type":"object","properties":{"ready":{"type":"boolean"}}}}}}}]}}`
