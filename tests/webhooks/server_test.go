package webhooks

import (
	"bufio"
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
	return m.Run(), nil
}

var readyLine = regexp.MustCompile(`ready in .*, kubeconfig (.+)$`)

// startServer runs a server until the test ends, and returns its administrator's kubeconfig. As in envtest, no
// controller of workloads runs.
func startServer(t *testing.T) string {
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
	t.Cleanup(func() {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("the server ended with %v\n%s", err, &log)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	match := readyLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
	if err != nil || match == nil {
		t.Fatalf("the server printed %q: %v", line, err)
	}
	return match[1]
}
