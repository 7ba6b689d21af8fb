package process

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Server is the process of a server.
type Server struct {
	// URL is the URL of the plain HTTP port, Secure that of the HTTPS port. Kubeconfig is the administrator's file.
	URL, Secure, Kubeconfig string
	// Log has the process's output on stderr.
	Log *Log
	// Ended is closed when the process has ended.
	Ended chan struct{}

	command *exec.Cmd
	killed  atomic.Bool
	// err is the error with which the process ended. It is set before Ended is closed.
	err error
}

// Log collects the output of a process. It may be read at any time.
type Log struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the output so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// shared has the servers that tests share. The keys are their flags.
var shared = map[string]*Server{}

// Start starts a server with the flags. It uses free ports unless the flags set others, and temporary data unless they
// have --data-dir.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	args := []string{"serve", "--insecure-port=-1", "--secure-port=0"}
	kept := slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--data-dir") })
	if !kept {
		args = append(args, "--ephemeral")
	}
	args = append(args, flags...)
	share := os.Getenv("KUBECASCADE_SHARED") != "" && !kept
	s := shared[strings.Join(args, " ")]
	if s == nil {
		var err error
		if s, err = Launch(exec.Command(Binary, args...)); err != nil {
			t.Fatal(err)
		}
		if share {
			shared[strings.Join(args, " ")] = s
			s.Run(t, "checkpoint", "begin")
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the server:\n%s", s.Log)
		}
		if share {
			s.Run(t, "rollback", "begin")
		} else if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var (
	// plainURL matches the last URL, because kubecascade ui prints its server first.
	plainURL   = regexp.MustCompile(`.*(http://[0-9.]+:\d+)`)
	secureURL  = regexp.MustCompile(`.*(https://[0-9.]+:\d+)`)
	kubeconfig = regexp.MustCompile(`, kubeconfig (.+)`)
)

// Launch starts a command that serves, and returns when it has printed a URL. It writes the log to c.Stderr if that is
// set. The caller must stop the command.
func Launch(c *exec.Cmd) (*Server, error) {
	s := &Server{Log: &Log{}, Ended: make(chan struct{}), command: c}
	if c.Stderr == nil {
		c.Stderr = s.Log
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	lines := bufio.NewReader(out)
	for s.URL == "" && s.Secure == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("the server ended before it was ready: %v\n%s%s", c.Wait(), line, s.Log)
		}
		for to, pattern := range map[*string]*regexp.Regexp{
			&s.URL: plainURL, &s.Secure: secureURL, &s.Kubeconfig: kubeconfig,
		} {
			if m := pattern.FindStringSubmatch(line); m != nil {
				*to = m[1]
			}
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines) // until the process ends
		s.err = c.Wait()
		close(s.Ended)
	}()
	return s, nil
}

// PID returns the ID of the process.
func (s *Server) PID() int { return s.command.Process.Pid }

// Run runs a command of kubecascade with the server's kubeconfig. If the command fails, the test fails.
func (s *Server) Run(t testing.TB, command ...string) {
	t.Helper()
	out, err := exec.Command(Binary, append(command, "--kubeconfig", s.Kubeconfig)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", command, err, out)
	}
	t.Logf("%s", out)
}

// Stop ends the process as Ctrl-C does. It returns the error with which the process ended, unless Kill was called
// before.
func (s *Server) Stop() error {
	_ = s.command.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.Ended:
	case <-time.After(time.Minute):
		s.Kill()
		return fmt.Errorf("the server did not end within a minute\n%s", s.Log)
	}
	if s.err == nil || s.killed.Load() {
		return nil
	}
	return fmt.Errorf("the server ended with %w\n%s", s.err, s.Log)
}

// Signal sends a signal to the process, if it runs.
func (s *Server) Signal(sig os.Signal) { _ = s.command.Process.Signal(sig) }

// Kill kills the process, and waits until it has ended.
func (s *Server) Kill() {
	s.killed.Store(true)
	_ = s.command.Process.Kill() // it may have ended
	<-s.Ended
}

// State returns the state of the process after its end.
func (s *Server) State() *os.ProcessState { return s.command.ProcessState }
