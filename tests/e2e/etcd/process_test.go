package etcd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/tests/process"
)

// start runs a process until the test ends or stop is called.
func start(t *testing.T, binary string, args ...string) (stop func()) {
	t.Helper()
	c := exec.Command(binary, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = c.Wait()                          // by that signal
	})
	t.Cleanup(stop)
	return stop
}

// eventually waits until done returns true.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 600 {
		if done() {
			return
		}
		time.Sleep(50 * time.Millisecond) // other processes send no events
	}
	t.Fatalf("%s: not within 30 s", what)
}

// member is an etcd with one member, whose version may change.
type member struct {
	t      *testing.T
	dir    string
	client string
	peer   string
	stop   func()
}

func newMember(t *testing.T) *member {
	return &member{t: t, dir: t.TempDir(), client: "http://" + free(t), peer: "http://" + free(t)}
}

// free returns a free address.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// run stops the member and starts it with another binary.
func (m *member) run(binary string) {
	m.t.Helper()
	if m.stop != nil {
		m.stop()
	}
	m.stop = start(m.t, binary, "--data-dir", m.dir, "--name", "m", "--initial-cluster", "m="+m.peer,
		"--listen-peer-urls", m.peer, "--initial-advertise-peer-urls", m.peer,
		"--listen-client-urls", m.client, "--advertise-client-urls", m.client)
	eventually(m.t, "etcd's health", func() bool {
		body, err := get(m.client + "/health")
		return err == nil && strings.Contains(body, `"health":"true"`)
	})
}

// serve starts the server over the member.
func serve(t *testing.T, m *member) *process.Server {
	t.Helper()
	return process.Start(t, "--etcd-servers="+m.client, "--data-dir="+t.TempDir())
}

// get requests a URL. A code other than 200 is an error.
func get(url string) (string, error) {
	return do(http.MethodGet, url, "")
}

// create creates a ConfigMap in the namespace default.
func create(url, name string) error {
	_, err := do(http.MethodPost, url+"/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"`+name+`"}}`)
	return err
}

func do(method, url, body string) (string, error) {
	q, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, b)
	}
	return string(b), err
}
