package tests

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// binary is the server under test.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kubecascade-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "kubecascade")
	args := append([]string{"build", "-C", ".."}, buildFlags...)
	build := exec.Command("go", append(args, "-o", binary, "./cmd/kubecascade")...)
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	for _, s := range shared {
		if err := s.end(syscall.SIGTERM); err != nil {
			fmt.Fprintf(os.Stderr, "the shared server ended with %v\n%s", err, s.log)
			code = 1
		}
	}
	_ = os.RemoveAll(dir) // the system cleans what is left
	os.Exit(code)
}

// server is a running process.
type server struct {
	cmd *exec.Cmd
	// url is the plain port, kubeconfig the administrator's.
	url, kubeconfig string
	log             *strings.Builder
}

var readyLine = regexp.MustCompile(`ready in \d+ ms: (http://\S+) https://\S+, kubeconfig (.+)$`)

// shared are the servers that tests share if $KUBECASCADE_SHARED is set, by their flags.
var shared = map[string]*server{}

// startServer starts a server that ends with the test. If $KUBECASCADE_SHARED is set, tests with the same flags get the
// same server, if its data is temporary, and it goes back to its beginning at the end of each.
func startServer(t *testing.T, flags ...string) *server {
	t.Helper()
	if os.Getenv("KUBECASCADE_SHARED") == "" || !slices.Contains(flags, "--ephemeral") {
		s := serve(t, flags...)
		t.Cleanup(func() { s.stop(t, syscall.SIGKILL) })
		return s
	}
	key := strings.Join(flags, " ")
	s := shared[key]
	if s == nil {
		s = serve(t, flags...)
		shared[key] = s
		s.run(t, "checkpoint", "begin")
	}
	t.Cleanup(func() { s.run(t, "rollback", "begin") })
	return s
}

// run runs a command of kubecascade that is about the server.
func (s *server) run(t *testing.T, command ...string) {
	t.Helper()
	out, err := exec.Command(binary, append(command, "--kubeconfig", s.kubeconfig)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", command, err, out)
	}
	t.Logf("%s", out)
}

// serve runs serve with the flags and waits for the line that says it is ready.
func serve(t *testing.T, flags ...string) *server {
	t.Helper()
	s := &server{log: &strings.Builder{}}
	s.cmd = exec.Command(binary, append([]string{"serve"}, flags...)...)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := readyLine.FindStringSubmatch(lines.Text()); m != nil {
			s.url, s.kubeconfig = m[1], m[2]
			return s
		}
	}
	err = s.cmd.Wait()
	t.Fatalf("the server ended before it was ready: %v\n%s", err, s.log)
	return nil
}

// stop ends the server with a signal and waits for it; stopping twice does nothing.
func (s *server) stop(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if s.cmd.ProcessState != nil {
		return
	}
	if err := s.end(sig); err != nil && sig != syscall.SIGKILL {
		t.Errorf("the server ended with %v\n%s", err, s.log)
	}
}

// end ends the server with a signal, and returns what Wait does.
func (s *server) end(sig syscall.Signal) error {
	if err := s.cmd.Process.Signal(sig); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
		return errors.Join(errors.New("it did not end in a minute"), <-ended)
	}
}
