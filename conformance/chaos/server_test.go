package chaos

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// server is one kubecascade process after another, kept running as a supervisor does.
type server struct {
	name string
	args []string
	// leading: its controllers run.
	leading atomic.Bool

	mu sync.Mutex // guards the fields below
	// id names the process, and url is where it serves, "" while it isn't ready.
	id, url string
	cmd     *exec.Cmd
	// down: it must not be restarted. killed: this test has ended it.
	down, killed bool
	// last are the last lines of its log.
	last []string
	// up is closed, and replaced, when down becomes false.
	up chan struct{}
}

var ready = regexp.MustCompile(`ready in \d+ ms: (http://\S+)`)

// run keeps a server running until stop is closed. It calls began for each process that is ready, and ended for each
// that has ended by itself after that.
func (s *server) run(stop <-chan struct{}, began func(id string), ended func(id, why string)) {
	for n := 1; ; n++ {
		s.mu.Lock()
		down, up := s.down, s.up
		s.mu.Unlock()
		if down {
			select {
			case <-up:
				continue
			case <-stop:
				return
			}
		}
		id := fmt.Sprintf("%s.%d", s.name, n)
		wasReady, err := s.once(id, began)
		s.mu.Lock()
		s.url, s.cmd = "", nil
		killed, last := s.killed, s.last
		s.mu.Unlock()
		s.leading.Store(false)
		select {
		case <-stop:
			return
		default:
		}
		if wasReady && !killed {
			ended(id, fmt.Sprintf("%v: %s", err, strings.Join(last, "\n")))
		}
		select {
		case <-stop:
			return
		case <-time.After(100 * time.Millisecond): // a supervisor's pause
		}
	}
}

// once runs one process to its end.
func (s *server) once(id string, began func(id string)) (wasReady bool, err error) {
	cmd := exec.Command(binary, s.args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	logs, err := cmd.StderrPipe()
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	if s.down {
		s.mu.Unlock()
		return false, nil
	}
	err = cmd.Start()
	s.cmd, s.id, s.killed, s.last = cmd, id, false, nil
	s.mu.Unlock()
	if err != nil {
		return false, err
	}
	var reading sync.WaitGroup
	reading.Go(func() { s.listen(logs) })
	r := bufio.NewReader(out)
	line, _ := r.ReadString('\n') // if it ends before, it isn't that line
	if m := ready.FindStringSubmatch(line); m != nil {
		wasReady = true
		began(id)
		s.mu.Lock()
		s.url = m[1]
		s.mu.Unlock()
	}
	_, _ = io.Copy(io.Discard, r) // until it ends
	reading.Wait()
	return wasReady, cmd.Wait()
}

// listen keeps the end of the log, and learns from it whether the server leads.
func (s *server) listen(logs io.Reader) {
	lines := bufio.NewScanner(logs)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.Contains(line, `msg="became leader`):
			s.leading.Store(true)
		case strings.Contains(line, `msg="lost leadership"`):
			s.leading.Store(false)
		}
		s.mu.Lock()
		s.last = append(s.last[max(0, len(s.last)-40):], line)
		s.mu.Unlock()
	}
	_, _ = io.Copy(io.Discard, logs) // a line may have been too long
}

// current returns the process that serves; ok is false while there is none.
func (s *server) current() (id, url string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, s.url, s.url != ""
}

// kill ends the process at once; the returned function allows the next one to start.
func (s *server) kill() (restart func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.down {
		s.down, s.up = true, make(chan struct{})
	}
	s.killed, s.url = true, ""
	if s.cmd != nil {
		_ = s.cmd.Process.Kill() // it may have ended
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.down {
			s.down = false
			close(s.up)
		}
	}
}

// pause stops the process; the returned function continues it.
func (s *server) pause() (resume func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return func() {}
	}
	p := s.cmd.Process
	suspendProcess(p)
	return func() { resumeProcess(p) }
}

// serve keeps a server over the cluster running until the test ends.
func (w *world) serve(t *testing.T, name string) *server {
	t.Helper()
	var endpoints []string
	for _, m := range w.etcd.members {
		endpoints = append(endpoints, "http://"+w.etcd.net.listen(t, name, m.Name, m.ClientSocket))
	}
	s := &server{name: name, args: []string{"serve", "--data-dir", t.TempDir(), "--insecure-port=-1", "--secure-port=0",
		"--etcd-servers", strings.Join(endpoints, ","), "--etcd-compaction-interval=0", "--v=1",
		"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=300ms"}}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		s.run(stop, w.began, w.exited)
	}()
	t.Cleanup(func() {
		close(stop)
		s.kill()
		<-stopped
	})
	return s
}
