package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// startEtcd is "etcd [QUOTA]": it runs an etcd cluster of one member until the script ends, with
// QUOTA bytes of space, and sets $ETCD to its URL. "etcd again" starts it again without data.
func startEtcd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: etcd [QUOTA|anew]")
	}
	if len(args) == 1 && args[0] == "anew" {
		c := of(ts).etcd.Config()
		of(ts).stopEtcd()
		ts.Check(os.RemoveAll(c.Dir))
		runEtcd(ts, &c)
		return
	}
	dir, err := os.MkdirTemp("", "etcd") // the script's directory has too long a name for a socket
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(dir) })
	c := embed.NewConfig()
	c.Dir = filepath.Join(dir, "data")
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	c.TickMs, c.ElectionMs = 10, 100
	c.UnsafeNoFsync = true
	if len(args) == 1 {
		c.QuotaBackendBytes, err = strconv.ParseInt(args[0], 10, 64)
		ts.Check(err)
	}
	peer, client := url.URL{
		Scheme: "unix", Path: filepath.Join(dir, "peer"),
	}, url.URL{Scheme: "unix", Path: filepath.Join(dir, "client")}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.InitialCluster = c.Name + "=" + peer.String()
	ts.Defer(of(ts).stopEtcd)
	runEtcd(ts, c)
	ts.Setenv("ETCD", client.String())
}

// runEtcd starts etcd and waits until it is ready.
func runEtcd(ts *testscript.TestScript, c *embed.Config) {
	e, err := embed.StartEtcd(c)
	ts.Check(err)
	of(ts).etcd = e
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(patience):
		ts.Fatalf("etcd isn't ready after %v", patience)
	}
}

// stopEtcd stops the story's etcd, if it runs.
func (s *story) stopEtcd() {
	if s.etcd != nil {
		s.etcd.Close()
		s.etcd = nil
	}
}
