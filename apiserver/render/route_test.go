package render_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/render"
)

// TestExtensions: the index lists the routes of extensions, and these have only the declared methods.
func TestExtensions(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.Extensions = []render.Route{
			{Path: "hello", Serve: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "world") }},
			{
				Path:    "echo",
				Methods: []string{http.MethodGet, http.MethodPost},
				Serve: func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(w, r.Body)
				},
			},
			{
				Path:    "do",
				Methods: []string{http.MethodPost},
				Serve:   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") },
			},
		}
	}})
	const index = `{
  "paths": [
    "/kubecascade/v1/do",
    "/kubecascade/v1/echo",
    "/kubecascade/v1/hello"
  ]
}`
	for _, c := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{"GET", "/kubecascade/v1", "", 200, index},
		{"GET", "/kubecascade/v1/", "", 200, index},
		{"GET", "/kubecascade/v1/hello", "", 200, "world"},
		{"POST", "/kubecascade/v1/echo", "x", 200, "x"},
		{"POST", "/kubecascade/v1/hello", "x", 405, ""},
		{"POST", "/kubecascade/v1/do", "", 200, "done"},
		{"GET", "/kubecascade/v1/do", "", 405, ""},
		{"DELETE", "/kubecascade/v1/do", "", 405, ""},
		{"GET", "/kubecascade/v1/other", "", 404, "404 page not found\n"},
		{"GET", "/kubecascade", "", 404, "404 page not found\n"},
	} {
		a := s.Do(c.method, c.path, c.body)
		if a.Code != c.code || c.want != "" && string(a.Body) != c.want {
			t.Errorf("%s %s: %d %q, expected %d %q", c.method, c.path, a.Code, a.Body, c.code, c.want)
		}
	}
}
