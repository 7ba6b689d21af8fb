package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// Binary is the server under test. Run sets it.
var Binary string

// Server is a server that runs.
type Server struct {
	// URL is the plain port, if the server has one, and Kubeconfig the administrator's file.
	URL, Kubeconfig string

	command *exec.Cmd
	log     bytes.Buffer
}

// shared is the server that all tests share; nil before there is one.
var shared *Server

// Run builds the server from the module at root and runs the tests. prepare, if it is set, does what else they need,
// with files in a directory that is removed at the end. It returns the code with which the process ends.
func Run(m *testing.M, root string, prepare func(dir string) error) int {
	code, err := run(m, root, prepare)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

func run(m *testing.M, root string, prepare func(dir string) error) (code int, err error) {
	dir, err := os.MkdirTemp("", "kubecascade-tests-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	Binary = filepath.Join(dir, "kubecascade")
	if err := Build(root, "./cmd/kubecascade", Binary); err != nil {
		return 1, err
	}
	if prepare != nil {
		if err := prepare(dir); err != nil {
			return 1, err
		}
	}
	code = m.Run()
	if shared != nil {
		err = shared.Stop()
	}
	return code, err
}

// Build builds a package of the module in a directory.
func Build(dir, pkg, to string) error {
	c := exec.Command("go", "build", "-C", dir, "-o", to, pkg)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}

// Start starts a server with temporary data, free ports and these flags. Tests that share one use the same flags.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	if os.Getenv("KUBECASCADE_SHARED") == "" {
		s := serve(t, flags)
		t.Cleanup(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	if shared == nil {
		shared = serve(t, flags)
		shared.run(t, "checkpoint")
	}
	t.Cleanup(func() { shared.run(t, "rollback") })
	return shared
}

// PID is the server's process.
func (s *Server) PID() int { return s.command.Process.Pid }

// run runs a command of kubecascade that is about the server.
func (s *Server) run(t testing.TB, command string) {
	t.Helper()
	out, err := exec.Command(Binary, command, "--kubeconfig", s.Kubeconfig).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	t.Logf("%s", out)
}

var readyLine = regexp.MustCompile(`ready in \d+ ms: (?:(http://\S+) )?https://\S+, kubeconfig (.+)$`)

// serve runs a server and waits for the line that says it is ready.
func serve(t testing.TB, flags []string) *Server {
	t.Helper()
	args := append([]string{"serve", "--ephemeral", "--secure-port=0", "--insecure-port=-1"}, flags...)
	s, err := Launch(exec.Command(Binary, args...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Launch starts kubecascade serve, or another server that prints such a line when it is ready, and waits for that line.
func Launch(command *exec.Cmd) (*Server, error) {
	s := &Server{command: command}
	command.Stderr = &s.log
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := readyLine.FindStringSubmatch(lines.Text()); m != nil {
			s.URL, s.Kubeconfig = m[1], m[2]
			return s, nil
		}
	}
	return nil, fmt.Errorf("the server ended before it was ready: %v", s.Stop())
}

// Stop ends the server as Ctrl-C does.
func (s *Server) Stop() error {
	_ = s.command.Process.Signal(syscall.SIGTERM) // it may have ended
	if err := s.command.Wait(); err != nil {
		return fmt.Errorf("the server ended with %w\n%s", err, &s.log)
	}
	return nil
}
