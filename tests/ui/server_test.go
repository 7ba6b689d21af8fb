package ui

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

var (
	binary = flag.String("binary", "", "the program under test")
	update = flag.Bool("update", false, "write the small screenshots in testdata")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *binary == "" {
		fmt.Fprintln(os.Stderr, "-binary is required: make e2e SUITE=ui")
		os.Exit(2)
	}
	os.Exit(m.Run())
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has JSON
	}
	return string(data)
}

// server is a server under test.
type server struct {
	t    testing.TB
	url  string
	port string
	data string
	stop func()
	pid  int
}

var urls = regexp.MustCompile(`http://[0-9.:]+`)

// secure is the URL of the secure port, as the kubeconfig has it.
func (s *server) secure() string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.data, "admin.kubeconfig"))
	if err != nil {
		s.t.Fatal(err)
	}
	return regexp.MustCompile(`https://[0-9.:]+`).FindString(string(data))
}

// start runs a command until it has printed a URL, and returns that and its process. stop ends it; so does the end of
// the test.
func start(t testing.TB, arguments ...string) (address string, pid int, stop func()) {
	t.Helper()
	c := exec.Command(*binary, arguments...)
	var errors bytes.Buffer
	c.Stderr = &errors
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	stop = func() {
		if ended {
			return
		}
		ended = true
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := c.Wait(); err != nil && c.ProcessState.ExitCode() != 130 {
			t.Errorf("%v ended with %v\n%s", arguments, err, &errors)
		}
	}
	t.Cleanup(stop)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if found := urls.FindAllString(line, -1); found != nil {
			go func() { _, _ = io.Copy(io.Discard, lines) }() // it ends with the process
			return found[len(found)-1], c.Process.Pid, stop
		}
		if err != nil {
			t.Fatalf("%v printed no URL: %v\n%s", arguments, err, &errors)
		}
	}
}

// serve starts a server on a port; "-1" is a free one.
func serve(t testing.TB, port string, more ...string) *server {
	t.Helper()
	s := &server{t: t, data: t.TempDir()}
	s.run(port, more...)
	return s
}

func (s *server) run(port string, more ...string) {
	s.t.Helper()
	arguments := []string{"serve", "--data-dir", s.data, "--insecure-port", port, "--secure-port", "0"}
	s.url, s.pid, s.stop = start(s.t, append(arguments, more...)...)
	_, s.port, _ = net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
}

// send sends a request and returns the object of the response.
func (s *server) send(method, path, body string) map[string]any {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
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

// owned is an owner reference to a ConfigMap.
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
