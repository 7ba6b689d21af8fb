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
// QUOTA bytes of space, and sets $ETCD to its URL.
func startEtcd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: etcd [QUOTA]")
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
	peer, client := url.URL{Scheme: "unix", Path: filepath.Join(dir, "peer")}, url.URL{Scheme: "unix", Path: filepath.Join(dir, "client")}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.InitialCluster = c.Name + "=" + peer.String()
	e, err := embed.StartEtcd(c)
	ts.Check(err)
	ts.Defer(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(patience):
		ts.Fatalf("etcd isn't ready after %v", patience)
	}
	ts.Setenv("ETCD", client.String())
}
