package crds

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// binary is the server under test, kubectl what drives it.
var binary, kubectl string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kubecascade-crds-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary, kubectl = filepath.Join(dir, "kubecascade"), filepath.Join(dir, "kubectl")
	code := 1
	if err := errors.Join(build("../..", "./cmd/kubecascade", binary), build("..", "./kubectl", kubectl)); err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	_ = os.RemoveAll(dir) // the system cleans what is left
	os.Exit(code)
}

func build(dir, pkg, to string) error {
	cmd := exec.Command("go", "build", "-C", dir, "-o", to, pkg)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// server is a running process.
type server struct {
	t *testing.T
	// url is the plain port, kubeconfig the administrator's.
	url, kubeconfig string
}

var readyLine = regexp.MustCompile(`ready in \d+ ms: (http://\S+) https://\S+, kubeconfig (.+)$`)

// shared is the server that all tests share if $KUBECASCADE_SHARED is set, and stopShared stops it.
var (
	shared     *server
	stopShared = func() error { return nil }
)

// start starts a server that ends with the test. If $KUBECASCADE_SHARED is set, all tests get the same server, and it
// goes back to its beginning at the end of each.
func start(t *testing.T) *server {
	t.Helper()
	if os.Getenv("KUBECASCADE_SHARED") == "" {
		s, stop := serve(t)
		t.Cleanup(func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	if shared == nil {
		shared, stopShared = serve(t)
		command(t, "checkpoint")
	}
	t.Cleanup(func() { command(t, "rollback") })
	return &server{t: t, url: shared.url, kubeconfig: shared.kubeconfig}
}

// command runs a command of kubecascade that is about the shared server.
func command(t *testing.T, name string) {
	t.Helper()
	out, err := exec.Command(binary, name, "--kubeconfig", shared.kubeconfig).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	t.Logf("%s", out)
}

// serve runs a server. stop stops it.
func serve(t *testing.T) (s *server, stop func() error) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(binary, "serve", "--ephemeral", "--insecure-port=-1", "--secure-port=0")
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	stop = func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("the server ended with %w\n%s", err, &log)
		}
		return nil
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := readyLine.FindStringSubmatch(lines.Text()); m != nil {
			return &server{t: t, url: m[1], kubeconfig: m[2]}, stop
		}
	}
	t.Fatalf("the server ended before it was ready: %v", stop())
	return nil, nil
}

// try makes a request.
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
	r, err := http.NewRequest(method, s.url+path, sent)
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

// do makes a request that must not fail, and returns the object that it is answered with.
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
	a, err := http.Get(s.url + collection +
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
			if !seen && f("DELETED", nil) { // all that there is has been seen
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
