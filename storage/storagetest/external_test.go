package storagetest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/kubecascade/kubecascade/storage"
)

// cluster is an etcd server with a socket, as others run it.
type cluster struct {
	t      *testing.T
	config *embed.Config
	server *embed.Etcd
}

// shortDir is t.TempDir with a name that is short enough for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// startCluster starts one on unix sockets; with TLS on a port that is free.
func startCluster(t *testing.T, tls transport.TLSInfo) *cluster {
	t.Helper()
	dir := shortDir(t)
	c := embed.NewConfig()
	c.Dir = filepath.Join(dir, "data")
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	c.TickMs, c.ElectionMs = 10, 50
	peer := url.URL{Scheme: "unix", Path: filepath.Join(dir, "peer")}
	client := url.URL{Scheme: "unix", Path: filepath.Join(dir, "client")}
	if !tls.Empty() {
		client = url.URL{Scheme: "https", Host: "127.0.0.1:0"}
		c.ClientTLSInfo = tls
	}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.InitialCluster = c.Name + "=" + peer.String()
	k := &cluster{t: t, config: c}
	k.start()
	t.Cleanup(k.stop)
	return k
}

func (c *cluster) start() {
	c.t.Helper()
	server, err := embed.StartEtcd(c.config)
	if err != nil {
		c.t.Fatalf("starting etcd: %v", err)
	}
	<-server.Server.ReadyNotify()
	c.server = server
}

func (c *cluster) stop() {
	if c.server != nil {
		c.server.Close()
		c.server = nil
	}
}

// endpoint is where clients connect.
func (c *cluster) endpoint() string {
	if l := c.server.Clients[0].Addr(); l.Network() != "unix" {
		return "https://" + l.String()
	}
	return "unix://" + c.config.ListenClientUrls[0].Path
}

func TestExternalEtcdKeepsGuarantees(t *testing.T) {
	run(t, func(t *testing.T) storage.Store {
		c := startCluster(t, transport.TLSInfo{})
		return OpenConfig(t, storage.Config{Endpoints: []string{c.endpoint()}})
	})
}

func TestUnreachable(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := storage.Open(ctx, storage.Config{Endpoints: []string{"http://127.0.0.1:1"}})
	if !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), "127.0.0.1:1") ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
}

// TestFollowerContinuesAfterRestartOfEtcd stops and starts the server under a follower. That others have removed in the
// meantime what was seen last, or compacted it, does not end the store, which would be a panic.
func TestFollowerContinuesAfterRestartOfEtcd(t *testing.T) {
	for _, compacted := range []bool{false, true} {
		t.Run(fmt.Sprint("compacted ", compacted), func(t *testing.T) {
			t.Parallel() // etcd waits 5 s for the watch when it stops
			c := startCluster(t, transport.TLSInfo{})
			e := OpenConfig(t, storage.Config{Endpoints: []string{c.endpoint()}})
			l := Watch(t, e)
			l.WaitForReset(1)
			l.WaitFor(put(t, e, key("a"), 0, "1"))
			c.stop()
			changeOffline(t, c.config.Dir, compacted)
			c.start()

			// Reads wait for the connection; a write would fail, because it is not repeated.
			if _, err := e.Revision(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.WaitFor(commit(t, e, key("c"), "3"))
			p, err := e.List(t.Context(), storage.Range{Prefix: "/registry/"})
			if diff := cmp.Diff(p.Records, l.State()); err != nil || diff != "" || len(p.Records) != 2 {
				t.Errorf("%v, %d records (-store +follower):\n%s", err, len(p.Records), diff)
			}
			if n := len(l.Events()); !compacted && n != 4 {
				t.Errorf("%d events, want a, b, the removal of a, and c", n)
			}
		})
	}
}

// commit creates a key, as soon as etcd is available.
func commit(t *testing.T, s storage.Store, k, value string) int64 {
	t.Helper()
	for {
		rev, err := s.Commit(t.Context(), storage.Txn{Key: k, Value: []byte(value)})
		if !errors.Is(err, storage.ErrUnavailable) {
			if err != nil {
				t.Fatalf("committing %s: %v", k, err)
			}
			return rev
		}
	}
}

// changeOffline writes to a server's directory while it is stopped. That the embedded store can
// open it is a test too.
func changeOffline(t *testing.T, dir string, compact bool) {
	t.Helper()
	e, err := storage.Open(t.Context(), storage.Config{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := e.Get(t.Context(), key("a"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, e, key("b"), 0, "2")
	rev := remove(t, e, key("a"), a.ModRevision)
	if compact {
		if err := e.Compact(t.Context(), rev); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDirectoryOfRunningEtcdIsInUse opens the directory of an etcd server at work.
func TestDirectoryOfRunningEtcdIsInUse(t *testing.T) {
	c := startCluster(t, transport.TLSInfo{})
	if _, err := storage.Open(t.Context(), storage.Config{DataDir: c.config.Dir}); !errors.Is(err, storage.ErrInUse) {
		t.Errorf("opening: %v", err)
	}
	e := OpenConfig(t, storage.Config{Endpoints: []string{c.endpoint()}})
	put(t, e, key("a"), 0, "x") // it was not disturbed
}
