package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/storage"
)

// config is of a server with temporary data.
func config() Config {
	return Config{
		ServingOptions: ServingOptions{
			Secure: Address{Host: "127.0.0.1"}, KubeconfigMode: 0o600, Shutdown: 10 * time.Second,
		},
		StorageOptions: StorageOptions{
			Storage: storage.Config{Root: storage.DefaultRoot, QuotaBytes: storage.DefaultQuota},
		},
		Controllers: controllers.Options{Enabled: []string{"*"}, LeaderElect: new(bool)},
		Access: apiserver.Access{
			Issuers: []string{"https://kubernetes.default.svc"}, Modes: []string{"AlwaysAllow"},
		},
		Audit: audit.Defaults(), Log: slog.New(slog.DiscardHandler),
		API: apiserver.Config{
			Services: allocate.Defaults(),
			Limits:   apiserver.Limits{MaxInFlight: 400, RequestTimeout: 34 * time.Second, EventTTL: time.Hour},
		},
	}
}

var errBroken = errors.New("the disk is gone")

// TestServerEndsWhenEtcdBreaksDown: a server whose etcd breaks down ends with the error, closes its port, and removes
// its directory. It does not wait for requests to etcd, one of which here never returns.
func TestServerEndsWhenEtcdBreaksDown(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var fatal func(error)
	c := config()
	broken, cancel := context.WithCancelCause(context.Background())
	fatal = func(err error) { cancel(err) }
	s, err := startWith(t.Context(), c, broken, fatal)
	if err != nil {
		t.Fatal(err)
	}
	held, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	follower, unfollow := context.WithCancel(context.Background())
	defer unfollow()
	go func() {
		_ = s.data.store.Follow(follower, func(storage.Batch) error { // the test ends it
			select {
			case <-held:
			default:
				close(held)
			}
			<-release
			return nil
		})
	}()
	<-held
	fatal(errBroken)
	fatal(errors.New("another"))
	select {
	case <-s.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the server doesn't end")
	}
	for _, err := range []error{s.Err(), s.Stop()} {
		if !errors.Is(err, errBroken) || strings.Contains(err.Error(), "another") {
			t.Errorf("ended with %v", err)
		}
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "https://")); err == nil {
		conn.Close()
		t.Error("the port is open")
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// TestServerServesDuringShutdownDelay: a server that is stopped serves for the time of the delay, while /readyz fails.
// The delay ends if the server breaks down.
func TestServerServesDuringShutdownDelay(t *testing.T) {
	c := config()
	c.Insecure, c.Delay = Address{Host: "127.0.0.1", Port: -1}, time.Hour
	s, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) int {
		t.Helper()
		res, err := http.Get(s.InsecureURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body) // so that the connection is used again
		return res.StatusCode
	}
	if code := get("/readyz"); code != http.StatusOK {
		t.Fatalf("/readyz: %d", code)
	}
	s.request()
	for deadline := time.Now().Add(10 * time.Second); get("/readyz") != http.StatusInternalServerError; {
		if time.Now().After(deadline) {
			t.Fatal("the server is ready")
		}
	}
	for _, path := range []string{"/livez", "/api/v1/namespaces", "/readyz/ping"} {
		if code := get(path); code != http.StatusOK {
			t.Errorf("%s: %d", path, code)
		}
	}
	select {
	case <-s.Done():
		t.Error("the server has ended")
	default:
	}
	s.fail(errBroken)
	if err := s.Stop(); !errors.Is(err, errBroken) {
		t.Errorf("ended with %v", err)
	}
}

// TestStartFailsWhenEtcdBreaksDown: a server whose etcd breaks down during the start does not start.
func TestStartFailsWhenEtcdBreaksDown(t *testing.T) {
	broken, cancel := context.WithCancelCause(context.Background())
	cancel(errBroken)
	if _, err := startWith(t.Context(), config(), broken, cancel); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
}

// TestNoCheckAtTheEnd: once the server begins to stop, no check adds its address to the endpoints again.
func TestNoCheckAtTheEnd(t *testing.T) {
	s, err := Start(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	checks := 0
	if err := s.checking.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	s.first.Trust = func() bootstrap.Trust { checks++; return bootstrap.Trust{} }
	s.checking.Release(1)
	if err := s.checkFirst(t.Context()); err != nil || checks == 0 {
		t.Errorf("while it runs: %v, %d checks", err, checks)
	}
	s.end()
	before := checks
	if err := s.checkFirst(t.Context()); err != nil || checks != before {
		t.Errorf("at the end: %v, %d checks", err, checks-before)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// TestControllersByDefault: all controllers but the scheduler run by default.
func TestControllersByDefault(t *testing.T) {
	c := config()
	s, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, name := range controllers.Names() {
		on := slices.ContainsFunc(s.controllers.Led, func(p controllers.Part) bool { return p.Name == name })
		if on == (name == controllers.Scheduler) {
			t.Errorf("%s by default: %v", name, on)
		}
	}
}
