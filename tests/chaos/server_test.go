package chaos

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/tests/process"
)

// server runs one kubecascade process after another, as a supervisor does.
type server struct {
	name string
	args []string

	mu sync.Mutex // guards the fields below
	// id identifies the process that serves; empty if there is none.
	id      string
	process *process.Server
	// end ends the process that runs or starts.
	end context.CancelFunc
	// up is closed while processes may run.
	up chan struct{}
	// last is the end of the previous process's log.
	last string
}

// run keeps a server running until ctx ends. It calls began for each process that is ready, and ended for each of these
// that ends without being stopped.
func (s *server) run(ctx context.Context, began func(id string), ended func(id, why string)) {
	for n := 1; ctx.Err() == nil; n++ {
		id := fmt.Sprintf("%s.%d", s.name, n)
		alive, end := context.WithCancel(ctx)
		s.mu.Lock()
		up := s.up
		s.end = end
		s.mu.Unlock()
		select {
		case <-up:
		case <-ctx.Done():
		}
		last := ""
		if p, err := process.Launch(exec.CommandContext(alive, process.Binary, s.args...)); err != nil {
			last = err.Error()
		} else {
			began(id)
			s.serves(id, p, "")
			<-p.Ended
			last = ending(p)
			if alive.Err() == nil {
				ended(id, fmt.Sprintf("%v: %s", p.State(), last))
			}
		}
		end()
		s.serves("", nil, last)
		pause(ctx, 100*time.Millisecond) // as a supervisor does
	}
}

func (s *server) serves(id string, p *process.Server, last string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id, s.process, s.last = id, p, last
}

// ending returns the end of a process's log.
func ending(p *process.Server) string {
	log := p.Log.String()
	return log[max(0, len(log)-4000):]
}

// log returns the end of the server's log.
func (s *server) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return s.last
	}
	return ending(s.process)
}

// current returns the process that serves; ok is false while there is none.
func (s *server) current() (id, url string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return "", "", false
	}
	return s.id, s.process.URL, true
}

// leads reports whether the server's controllers run, according to its log.
func (s *server) leads() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return false
	}
	log := s.process.Log.String()
	return strings.LastIndex(log, `msg="became leader`) > strings.LastIndex(log, `msg="lost leadership"`)
}

// kill ends the process at once; the returned function allows the next one to start.
func (s *server) kill() (restart func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mayRun() {
		s.up = make(chan struct{})
	}
	s.process = nil
	s.end()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.mayRun() {
			close(s.up)
		}
	}
}

// mayRun is called with mu held.
func (s *server) mayRun() bool {
	select {
	case <-s.up:
		return true
	default:
		return false
	}
}

// pause stops the process; the returned function continues it.
func (s *server) pause() (resume func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.process
	if p == nil {
		return func() {}
	}
	p.Signal(syscall.SIGSTOP)
	return func() { p.Signal(syscall.SIGCONT) }
}

// serve keeps a server over the cluster running until the test ends.
func (w *world) serve(t *testing.T, name string) *server {
	t.Helper()
	var endpoints []string
	for _, m := range w.etcd.members {
		endpoints = append(endpoints, "http://"+w.etcd.net.listen(t, name, m.Name, m.ClientSocket))
	}
	s := &server{name: name, end: func() {}, up: make(chan struct{}), args: []string{"serve", "--data-dir", t.TempDir(),
		"--insecure-port=-1", "--secure-port=0", "--etcd-servers", strings.Join(endpoints, ","),
		"--etcd-compaction-interval=0", "--v=1", "--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s",
		"--leader-elect-retry-period=300ms"}}
	close(s.up)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.run(ctx, w.began, w.exited)
	}()
	t.Cleanup(func() {
		cancel()
		<-stopped
	})
	return s
}
