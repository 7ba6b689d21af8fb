package ui

import (
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/tests/process"
)

var update = flag.Bool("update", false, "write the small screenshots in testdata")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(process.Run(m, nil))
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has JSON
	}
	return string(data)
}

// server is a server under test, on a data directory on which it can be started again.
type server struct {
	*process.Server
	t    testing.TB
	data string
}

func serve(t testing.TB, flags ...string) *server {
	t.Helper()
	data := t.TempDir()
	return &server{process.Start(t, append(flags, "--data-dir="+data)...), t, data}
}

// again stops the server, calls f, and starts it again on the same port.
func (s *server) again(f func()) {
	s.t.Helper()
	if err := s.Stop(); err != nil {
		s.t.Fatal(err)
	}
	f()
	_, port, _ := strings.Cut(s.URL, "127.0.0.1:")
	s.Server = process.Start(s.t, "--data-dir="+s.data, "--insecure-port="+port)
}

// viewer starts "kubecascade ui" with these arguments, and returns its URL. The command ends with the test.
func viewer(t testing.TB, arguments ...string) string {
	t.Helper()
	p, err := process.Launch(exec.Command(process.Binary, append([]string{"ui"}, arguments...)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p.URL
}

// send sends a request and returns the object of the response.
func (s *server) send(method, path, body string) map[string]any {
	s.t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	out := map[string]any{}
	if err != nil || res.StatusCode >= 300 || json.Unmarshal(data, &out) != nil {
		s.t.Fatalf("%s %s: %s %v\n%s", method, path, res.Status, err, data)
	}
	return out
}

// create creates an object and returns its uid.
func (s *server) create(path, name, meta string) string {
	s.t.Helper()
	o := s.send(http.MethodPost, path, `{"metadata":{"name":`+quote(name)+meta+`}}`)
	return o["metadata"].(map[string]any)["uid"].(string)
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// owned returns an owner reference to a ConfigMap.
func owned(name, uid string) string {
	return `,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":` + quote(name) + `,"uid":` + quote(uid) +
		`,"blockOwnerDeletion":true}]`
}

// example creates the ReplicaSet of the README, and returns its uid.
func (s *server) example() string {
	s.t.Helper()
	o := s.send(http.MethodPost, "/apis/apps/v1/namespaces/default/replicasets", `{"metadata":{"name":"my-repset"},
		"spec":{"replicas":3,"selector":{"matchLabels":{"pod-is-for":"garbage-collection-example"}},"template":{
		"metadata":{"labels":{"pod-is-for":"garbage-collection-example"}},
		"spec":{"containers":[{"name":"nginx","image":"nginx"}]}}}}`)
	return o["metadata"].(map[string]any)["uid"].(string)
}
