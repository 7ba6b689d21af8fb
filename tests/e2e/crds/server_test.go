package crds

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/tests/process"
)

// kubectl is the path of kubectl.
var kubectl string

func TestMain(m *testing.M) {
	os.Exit(process.Run(m, func(dir string) error {
		kubectl = filepath.Join(dir, "kubectl")
		return process.Build("tests", "./kubectl", kubectl)
	}))
}

// server is a server of a test.
type server struct {
	t *testing.T
	*process.Server
}

// start starts a server, or shares one.
func start(t *testing.T) *server {
	t.Helper()
	return &server{t, process.Start(t)}
}

func (s *server) try(method, path string, body any, contentType string) (int, []byte) {
	s.t.Helper()
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		sent = bytes.NewReader(data)
	}
	r, err := http.NewRequest(method, s.URL+path, sent)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	data, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.StatusCode, data
}

// do sends a request that must succeed, and returns the object in the response.
func (s *server) do(method, path string, body any, contentType string) *unstructured.Unstructured {
	s.t.Helper()
	code, data := s.try(method, path, body, contentType)
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, &u.Object); err != nil || code/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", method, path, code, data)
	}
	return u
}

// await reads a watch of a collection until an object's event satisfies f.
func (s *server) await(collection, name string, f func(event string, u *unstructured.Unstructured) bool) {
	s.t.Helper()
	a, err := http.Get(s.URL + collection +
		"?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=60&fieldSelector=metadata.name%3D" + name)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	seen := false
	for d := json.NewDecoder(a.Body); ; {
		var e struct {
			Type   string
			Object map[string]any
		}
		if err := d.Decode(&e); err != nil {
			s.t.Fatalf("waiting for %s in %s: %v", name, collection, err)
		}
		if e.Type == "BOOKMARK" {
			if !seen && f("DELETED", nil) { // the initial events are complete
				return
			}
			continue
		}
		seen = true
		if f(e.Type, &unstructured.Unstructured{Object: e.Object}) {
			return
		}
	}
}
