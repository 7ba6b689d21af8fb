package tests

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

// startServer runs serve with the flags and waits for the line that says it is ready.
func startServer(t *testing.T, flags ...string) *server {
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
			t.Cleanup(func() { s.stop(t, syscall.SIGKILL) })
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
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Error(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil && sig != syscall.SIGKILL {
			t.Errorf("the server ended with %v\n%s", err, s.log)
		}
	case <-time.After(time.Minute):
		t.Errorf("the server did not end\n%s", s.log)
		_ = s.cmd.Process.Kill()
		<-ended
	}
}
