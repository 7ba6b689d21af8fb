package webhooks

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// binary is the server under test.
var binary string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// run builds the server from the module around this one, and runs the tests.
func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "kubecascade-webhooks-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "kubecascade")
	c := exec.Command("go", "build", "-C", filepath.Join("..", ".."), "-o", binary, "./cmd/kubecascade")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return 1, err
	}
	code := m.Run()
	if err := stopShared(); err != nil {
		return 1, err
	}
	return code, nil
}

var readyLine = regexp.MustCompile(`ready in .*, kubeconfig (.+)$`)

// shared is the kubeconfig of the server that all tests share if $KUBECASCADE_SHARED is set, and stopShared stops it.
var (
	shared     string
	stopShared = func() error { return nil }
)

// startServer starts a server that ends with the test, and returns its administrator's kubeconfig. If
// $KUBECASCADE_SHARED is set, all tests get the same server, and it goes back to its beginning at the end of each.
func startServer(t *testing.T) string {
	t.Helper()
	if os.Getenv("KUBECASCADE_SHARED") == "" {
		kubeconfig, stop := serve(t)
		t.Cleanup(func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
		return kubeconfig
	}
	if shared == "" {
		shared, stopShared = serve(t)
		command(t, "checkpoint")
	}
	t.Cleanup(func() { command(t, "rollback") })
	return shared
}

// command runs a command of kubecascade that is about the shared server.
func command(t *testing.T, name string) {
	t.Helper()
	out, err := exec.Command(binary, name, "--kubeconfig", shared).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	t.Logf("%s", out)
}

// serve runs a server, and returns its administrator's kubeconfig and what stops it. As in envtest, no
// controller of workloads runs.
func serve(t *testing.T) (kubeconfig string, stop func() error) {
	t.Helper()
	c := exec.Command(binary, "serve", "--ephemeral", "--insecure-port", "-1", "--secure-port", "0",
		"--authorization-mode", "RBAC", "--controllers", "garbage-collector-controller,namespace-controller")
	var log strings.Builder
	c.Stderr = &log
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() error {
		if err := errors.Join(c.Process.Signal(syscall.SIGTERM), c.Wait()); err != nil {
			return fmt.Errorf("the server ended with %w\n%s", err, &log)
		}
		return nil
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	match := readyLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
	if err != nil || match == nil {
		_ = stop() // it may have ended
		t.Fatalf("the server printed %q: %v", line, err)
	}
	return match[1], stop
}
