package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/embedded"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// member imitates the part of an etcd member that the store uses first. It responds to every read, and has a version.
type member struct {
	pb.UnimplementedKVServer
	pb.UnimplementedMaintenanceServer
	version string
	cluster uint64
	// checks and reads count requests; checked gets a token at each check.
	checks, reads atomic.Int64
	checked       chan struct{}
	// answer returns the revision in the response to a read of the key; nil means always 7.
	answer func(key string) (int64, error)
	server *grpc.Server
}

func (m *member) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: m.cluster, MemberId: 1, Revision: 7}
}

func (m *member) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	m.checks.Add(1)
	select {
	case m.checked <- struct{}{}:
	default:
	}
	return &pb.StatusResponse{Header: m.header(), Version: m.version}, nil
}

func (m *member) Range(_ context.Context, q *pb.RangeRequest) (*pb.RangeResponse, error) {
	m.reads.Add(1)
	h := m.header()
	if m.answer != nil {
		var err error
		if h.Revision, err = m.answer(string(q.Key)); err != nil {
			return nil, err
		}
	}
	return &pb.RangeResponse{Header: h}, nil
}

// serve runs a member on a unix socket until the test or the member is stopped.
func serve(t *testing.T, socket, version string, cluster uint64) *member {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	m := &member{version: version, cluster: cluster}
	m.run(t, l)
	return m
}

// run serves the member until the test or the member is stopped.
func (m *member) run(t *testing.T, l net.Listener) {
	m.checked, m.server = make(chan struct{}, 1), grpc.NewServer()
	pb.RegisterKVServer(m.server, m)
	pb.RegisterMaintenanceServer(m.server, m)
	var serving sync.WaitGroup
	serving.Go(func() { _ = m.server.Serve(l) })
	t.Cleanup(func() {
		m.server.Stop()
		serving.Wait()
	})
}

// sockets returns names for sockets, which must be short, and their endpoints.
func sockets(t *testing.T, n int) (names, endpoints []string) {
	t.Helper()
	dir, done, err := embedded.Temporary("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	for i := range n {
		names = append(names, filepath.Join(dir, fmt.Sprint(i)))
		endpoints = append(endpoints, "unix://"+names[i])
	}
	return names, endpoints
}

// written is a log that may be read while it is written.
type written struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// TestOldAndUnknownVersionsAreRejected opens an etcd of each version.
func TestOldAndUnknownVersionsAreRejected(t *testing.T) {
	for version, ok := range map[string]bool{
		"2.3.8": false, "3.3.27": false, "3.4.0": false, "3.4.24": false, "3.4.25": false, "3.4.30": false,
		"3.4.31-rc.0": false, "3.4.31": true, "3.4.37": true, "3.4.31+patched": true,
		"3.5.0-alpha.0": false, "3.5.0": false, "3.5.7": false, "3.5.8": false, "3.5.12": false, "3.5.13-rc.0": false,
		"3.5.13": true, "3.5.35": true, "3.6.0-rc.1": true, "3.6.0": true, "3.7.3": true, "4.0.0": true,
		"": false, "v3.6.0": false, "unknown": false,
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			names, endpoints := sockets(t, 1)
			m := serve(t, names[0], version, 1)
			e, err := storage.Open(t.Context(), storage.Config{Endpoints: endpoints})
			if err == nil {
				defer e.Close()
			}
			if ok != (err == nil) || !ok && m.reads.Load() > 0 {
				t.Fatalf("opening: %v, after %d reads", err, m.reads.Load())
			}
			says := func(part string) bool { return strings.Contains(err.Error(), part) }
			if !ok && (!errors.Is(err, storage.ErrVersion) || !says(endpoints[0]) || !says(version)) {
				t.Errorf("the error doesn't say which endpoint has which version: %v", err)
			}
		})
	}
}

// TestOldMemberIsRejected opens a cluster with one member that is too old.
func TestOldMemberIsRejected(t *testing.T) {
	names, endpoints := sockets(t, 3)
	for i, version := range []string{"3.6.1", "3.6.1", "3.5.12"} {
		serve(t, names[i], version, 1)
	}
	_, err := storage.Open(t.Context(), storage.Config{Endpoints: endpoints})
	if !errors.Is(err, storage.ErrVersion) || !strings.Contains(err.Error(), endpoints[2]+": ") ||
		!strings.Contains(err.Error(), "3.5.13") {
		t.Errorf("opening: %v", err)
	}
}

// TestDifferentClusters opens endpoints of different clusters.
func TestDifferentClusters(t *testing.T) {
	names, endpoints := sockets(t, 2)
	serve(t, names[0], "3.6.1", 1)
	serve(t, names[1], "3.6.1", 2)
	if _, err := storage.Open(t.Context(), storage.Config{Endpoints: endpoints}); !errors.Is(err, storage.ErrCluster) {
		t.Errorf("opening: %v", err)
	}
}

// TestMemberIsUsedWhenItIsBack opens a cluster with one member down. It is used when it is back, but not while it is
// too old.
func TestMemberIsUsedWhenItIsBack(t *testing.T) {
	names, endpoints := sockets(t, 3)
	for _, name := range names[:2] {
		serve(t, name, "3.6.1", 1)
	}
	log := &written{}
	e := storagetest.OpenConfig(t, storage.Config{
		Endpoints: endpoints, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Fatal: func(err error) { t.Errorf("fatal: %v", err) },
	})
	if !strings.Contains(log.String(), endpoints[2]) || strings.Contains(log.String(), endpoints[0]) {
		t.Errorf("log of the start:\n%s", log)
	}
	read := func() {
		t.Helper()
		for range 9 { // the members take turns
			if _, err := e.Revision(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	read()
	m := serve(t, names[2], "3.5.12", 1)
	<-m.checked
	<-m.checked // the first is over, it was rejected
	read()
	if n := m.reads.Load(); n > 0 {
		t.Errorf("%d reads", n)
	}
	if n := strings.Count(log.String(), "version 3.5.12"); n != 1 {
		t.Errorf("the version is %d times in the log:\n%s", n, log)
	}
	m.server.Stop()
	m = serve(t, names[2], "3.6.1", 1)
	for m.reads.Load() < 5 {
		read()
	}
}

// TestMemberIsCheckedForEachConnection: a member is checked again after its connection has broken.
func TestMemberIsCheckedForEachConnection(t *testing.T) {
	names, endpoints := sockets(t, 1)
	m := serve(t, names[0], "3.5.13", 1)
	e := storagetest.OpenConfig(t, storage.Config{Endpoints: endpoints, Logger: slog.New(slog.DiscardHandler)})
	for _, version := range []string{"3.5.12", "3.6.1", "3.4.30", "3.4.31"} {
		m.server.Stop()
		m = serve(t, names[0], version, 1)
		rejected := version == "3.5.12" || version == "3.4.30"
		for { // reads are repeated until the last error is known
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			_, err := e.Get(ctx, "/registry/pods/default/a")
			cancel()
			if !rejected && errors.Is(err, storage.ErrNotFound) {
				break
			}
			if rejected && m.checks.Load() > 1 {
				if !errors.Is(err, storage.ErrUnavailable) || m.reads.Load() > 0 {
					t.Errorf("version %s: %v, after %d reads", version, err, m.reads.Load())
				}
				break
			}
		}
	}
}
