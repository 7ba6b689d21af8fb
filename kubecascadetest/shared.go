package kubecascadetest

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/kubecascade/kubecascade"
)

// beginning is the name of the checkpoint to which the server is rolled back. Tests may make other checkpoints, also
// without a name.
const beginning = "kubecascadetest.Shared"

// Shared is a server that tests use one after the other: each begins with the same state. It is a variable of the
// package of the tests.
type Shared struct {
	// Options changes the options of the server.
	Options func(*kubecascade.Options)
	// Prepare creates the objects with which all tests begin. It is called once, by the first test.
	Prepare func(testing.TB, *kubecascade.Server)

	inUse sync.Mutex // is held by the test that uses the server; guards the fields below
	log   log
	// server is nil before the first test.
	server *kubecascade.Server

	mu sync.Mutex // guards user, the name of the test that uses the server
	// user is empty if none does.
	user string
}

// Server returns the server when no other test uses it. The first test starts the server. At the end of the test the
// server is rolled back to its first state, and its plans and reports of faults are removed. A subtest gets the server
// of its parent.
func (s *Shared) Server(t testing.TB) *kubecascade.Server {
	t.Helper()
	if s.isUsedBy(t.Name()) {
		return s.server
	}
	s.inUse.Lock()
	s.use(t.Name())
	s.log.attach(t)
	t.Cleanup(func() {
		defer s.inUse.Unlock()
		s.use("")
		if s.server != nil {
			s.server.Faults().Reset()
			if err := s.server.Rollback(context.Background(), beginning); err != nil {
				t.Errorf("rolling back the server: %v", err)
				s.stop(t)
			}
		}
		s.log.detach()
	})
	if s.server == nil {
		s.start(t)
	}
	return s.server
}

// isUsedBy reports whether the test, or one that it is a part of, uses the server.
func (s *Shared) isUsedBy(test string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user != "" && (test == s.user || strings.HasPrefix(test, s.user+"/"))
}

func (s *Shared) use(test string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = test
}

// start starts the server, prepares it, and makes the checkpoint.
func (s *Shared) start(t testing.TB) {
	t.Helper()
	o := kubecascade.Options{Log: slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	if s.Options != nil {
		s.Options(&o)
	}
	server, err := kubecascade.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\nThe end of the server's log:\n%s", err, s.log.tail())
	}
	defer func() { // Prepare may end the test
		if s.server == nil {
			s.server = server
			s.stop(t)
		}
	}()
	if s.Prepare != nil {
		s.Prepare(t, server)
	}
	if err := server.Checkpoint(t.Context(), beginning); err != nil {
		t.Fatalf("the server can't be shared: %v", err)
	}
	s.server = server
}

// stop stops the server; the next test starts another one.
func (s *Shared) stop(t testing.TB) {
	if err := s.server.Stop(); err != nil {
		t.Errorf("stopping the server: %v", err)
	}
	s.server = nil
}

// Main runs the tests and then stops the servers. It is for TestMain, which ends the process with the returned code.
// Without Main the servers end with the process, and the next server with temporary data removes their files.
func Main(m interface{ Run() int }, servers ...*Shared) (code int) {
	defer func() {
		for _, s := range servers {
			s.inUse.Lock()
			defer s.inUse.Unlock()
			if s.server != nil && s.server.Stop() != nil {
				code = max(code, 1)
			}
			s.server = nil
		}
	}()
	return m.Run()
}
