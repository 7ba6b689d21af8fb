package backups

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/snapshot"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// value is a stored value with its key.
type value struct {
	key   string
	value []byte
}

// etcd is the only member of a cluster.
type etcd struct {
	t      *testing.T
	dir    string
	member *embed.Etcd
	client *clientv3.Client
}

// startEtcd starts an etcd that stores the values.
func startEtcd(t *testing.T, values []value) *etcd {
	t.Helper()
	free := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	e := &etcd{t: t, dir: filepath.Join(t.TempDir(), "etcd")}
	c := embed.NewConfig()
	c.Dir, c.ZapLoggerBuilder = e.dir, embed.NewZapLoggerBuilder(zap.NewNop())
	c.ListenClientUrls, c.AdvertiseClientUrls, c.ListenPeerUrls, c.AdvertisePeerUrls = free, free, free, free
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.UnsafeNoFsync = true
	var err error
	if e.member, err = embed.StartEtcd(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.stop)
	<-e.member.Server.ReadyNotify()
	if e.client, err = clientv3.New(e.config()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.client.Close() })
	for _, v := range values {
		if _, err := e.client.Put(t.Context(), v.key, string(v.value)); err != nil {
			t.Fatalf("%s: %v", v.key, err)
		}
	}
	return e
}

func (e *etcd) config() clientv3.Config {
	return clientv3.Config{Endpoints: []string{e.member.Clients[0].Addr().String()}, Logger: zap.NewNop()}
}

// stop stops the etcd, if it runs.
func (e *etcd) stop() {
	if e.member != nil {
		e.member.Close()
		e.member = nil
	}
}

// save saves a snapshot as etcdctl does.
func (e *etcd) save() string {
	e.t.Helper()
	file := filepath.Join(e.t.TempDir(), "backup.db")
	if _, err := snapshot.SaveWithVersion(e.t.Context(), zap.NewNop(), e.config(), file); err != nil {
		e.t.Fatal(err)
	}
	return file
}

// files returns the files below a directory with their contents.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all = append(all, path+string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}
