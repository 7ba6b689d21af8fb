package storage

import (
	"context"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// shortDir is a directory that sockets can be in; t.TempDir's names are too long.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "kc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// longDir is one that they can't be in.
func longDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSocketDir(t *testing.T) {
	short, long := shortDir(t), longDir(t)
	for _, c := range []struct{ name, data, temporary, want string }{
		{"data", short, long, short},
		{"long data", long, short, short},
		{"all long", long, long, "/tmp"},
		{"data read-only", "/proc/self", short, short},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", c.temporary)
			dir, err := makeSocketDir(c.data)
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			if filepath.Dir(dir) != c.want {
				t.Errorf("in %s, want %s", dir, c.want)
			}
			if info, err := os.Stat(dir); err != nil || info.Mode() != os.ModeDir|0o700 {
				t.Errorf("%s: %v, %v", dir, info, err)
			}
		})
	}
	// What a crash has left doesn't matter.
	for range 2 {
		if dir, err := makeSocketDir(short); err != nil || os.WriteFile(filepath.Join(dir, clientSocket), nil, 0o600) != nil {
			t.Errorf("again: %s, %v", dir, err)
		}
	}
}

// TestSockets looks for ports, and for what is left behind.
func TestSockets(t *testing.T) {
	for name, temporary := range map[string]string{"short": shortDir(t), "long": longDir(t)} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", temporary)
			e, err := Open(t.Context(), Config{Ephemeral: true})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			listeners := append([]net.Listener{}, e.local.etcd.Clients...)
			for _, p := range e.local.etcd.Peers {
				listeners = append(listeners, p)
			}
			for _, l := range listeners {
				if a := l.Addr(); a.Network() != "unix" || filepath.Dir(a.String()) != e.local.sockets {
					t.Errorf("listens on %s %s", a.Network(), a)
				}
			}
			e.Close()
			if _, err := os.Stat(e.local.sockets); len(listeners) != 2 || !os.IsNotExist(err) {
				t.Errorf("%d listeners, directory after closing: %v", len(listeners), err)
			}
		})
	}
}

// TestCloseConnected closes under a client that watches, and one that has connected only, which
// etcd itself would wait for.
func TestCloseConnected(t *testing.T) {
	e, err := Open(t.Context(), Config{DataDir: shortDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	socket := filepath.Join(e.local.sockets, clientSocket)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"unix://" + socket}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if first := <-client.Watch(t.Context(), "a", clientv3.WithCreatedNotify()); !first.Created {
		t.Fatalf("watch: %v", first.Err())
	}
	silent, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	again, err := Open(t.Context(), Config{DataDir: filepath.Dir(e.local.sockets)})
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// TestOtherMembers opens the directory of a member of two, which can't lead alone.
func TestOtherMembers(t *testing.T) {
	dir := shortDir(t)
	c := embed.NewConfig()
	c.Dir, c.Name = dir, "one"
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	c.ListenClientUrls = []url.URL{socketURL(dir, clientSocket)}
	c.ListenPeerUrls = []url.URL{socketURL(dir, peerSocket)}
	c.AdvertisePeerUrls = []url.URL{{Scheme: "unix", Host: "one"}}
	c.InitialCluster = "one=unix://one,two=unix://two"
	member, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	for member.Server.AppliedIndex() < 2 { // its log begins with an entry for each member
		time.Sleep(time.Millisecond)
	}
	member.Server.Stop() // Close waits for it to be ready
	member.Close()
	_, err = Open(t.Context(), Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "cluster of 2 members") {
		t.Errorf("opening: %v", err)
	}
}

// TestCancelled gives up while etcd starts for the first time.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := shortDir(t)
	if _, err := Open(ctx, Config{DataDir: dir}); err == nil {
		t.Error("opened")
	}
	e, err := Open(t.Context(), Config{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
}
