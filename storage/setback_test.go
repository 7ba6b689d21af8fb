package storage_test

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// answering opens a store over a member with the given answer. fatal gets the errors that Config.Fatal is called with.
func answering(t *testing.T, answer func(key string) (int64, error)) (e *storage.Etcd, fatal chan error) {
	t.Helper()
	names, endpoints := sockets(t, 1)
	l, err := net.Listen("unix", names[0])
	if err != nil {
		t.Fatal(err)
	}
	m := &member{version: "3.6.1", cluster: 1, answer: answer}
	m.run(t, l)
	fatal = make(chan error, 9)
	return storagetest.OpenConfig(t, storage.Config{
		Endpoints: endpoints, Fatal: func(err error) { fatal <- err }, Logger: slog.New(slog.DiscardHandler),
	}), fatal
}

// TestLowerRevisionIsASetBack makes etcd respond with an earlier revision over a connection that didn't break.
func TestLowerRevisionIsASetBack(t *testing.T) {
	for name, lower := range map[string]func() (int64, error){
		"an answer": func() (int64, error) { return 6, nil },
		"an error":  func() (int64, error) { return 0, rpctypes.ErrGRPCFutureRev },
	} {
		t.Run(name, func(t *testing.T) {
			var back atomic.Bool
			e, fatal := answering(t, func(string) (int64, error) {
				if back.Load() {
					return lower()
				}
				return 7, nil
			})
			if _, err := e.List(t.Context(), storage.Range{Prefix: "/registry/", Revision: 7}); err != nil {
				t.Fatal(err)
			}
			back.Store(true)
			for range 3 { // the last two without asking etcd
				_, err := e.List(t.Context(), storage.Range{Prefix: "/registry/", Revision: 7})
				if !errors.Is(err, storage.ErrSetBack) || !errors.Is(err, storage.ErrUnavailable) ||
					errors.Is(err, storage.ErrFuture) {
					t.Errorf("reading: %v", err)
				}
			}
			if err := <-fatal; !errors.Is(err, storage.ErrSetBack) || len(fatal) > 0 {
				t.Errorf("fatal: %v, and %d more", err, len(fatal))
			}
		})
	}
}

// TestUnseenRevisionIsNoSetBack reads at a revision that was never seen, which proves no restore.
func TestUnseenRevisionIsNoSetBack(t *testing.T) {
	e, fatal := answering(t, func(key string) (int64, error) {
		if strings.Contains(key, "future") {
			return 0, rpctypes.ErrGRPCFutureRev
		}
		return 7, nil
	})
	_, err := e.List(t.Context(), storage.Range{Prefix: "/registry/future/", Revision: 8})
	if !errors.Is(err, storage.ErrFuture) || len(fatal) > 0 {
		t.Errorf("reading: %v, %d fatal errors", err, len(fatal))
	}
}

// TestLateResponseIsNoSetBack holds an answer up while a later request is answered with a later revision.
func TestLateResponseIsNoSetBack(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	e, fatal := answering(t, func(key string) (int64, error) {
		switch {
		case strings.HasSuffix(key, "slow"):
			close(arrived)
			<-release
			return 8, nil
		case strings.HasSuffix(key, "quick"):
			return 9, nil
		}
		return 7, nil
	})
	slow := make(chan error)
	go func() {
		_, err := e.Get(t.Context(), "/registry/slow")
		slow <- err
	}()
	<-arrived
	_, quick := e.Get(t.Context(), "/registry/quick")
	close(release)
	for _, err := range []error{quick, <-slow} {
		if !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("reading: %v", err)
		}
	}
	if len(fatal) > 0 {
		t.Errorf("fatal: %v", <-fatal)
	}
}

// TestSilentMember opens a cluster with one member that takes connections and doesn't answer.
func TestSilentMember(t *testing.T) {
	t.Parallel()
	names, endpoints := sockets(t, 2)
	serve(t, names[0], "3.6.1", 1)
	silent, err := net.Listen("unix", names[1])
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	log := &written{}
	e := storagetest.OpenConfig(t, storage.Config{Endpoints: endpoints, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if _, err := e.Revision(t.Context()); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), endpoints[1]) || strings.Contains(log.String(), endpoints[0]) {
		t.Errorf("log of the start:\n%s", log)
	}
}
