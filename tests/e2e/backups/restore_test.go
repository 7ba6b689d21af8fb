package backups

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	etcdutl "go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/kubecascadetest"
	"github.com/kubecascade/kubecascade/storage/snapshot"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

// TestSnapshotIsRestoredByEtcd: etcd's library restores a snapshot of a running server with every byte and every
// revision. A server with the restored data directory has the same objects.
func TestSnapshotIsRestoredByEtcd(t *testing.T) {
	server := kubecascadetest.New(t)
	for i := range 50 {
		request(t, server, http.MethodPost, configMaps, fmt.Sprintf(`{"metadata":{"name":"a%d"},"data":{"a":"%d"}}`, i, i))
		if i%5 == 0 {
			request(t, server, http.MethodDelete, fmt.Sprint(configMaps, "/a", i), "")
		}
	}
	if err := server.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := request(t, server, http.MethodGet, configMaps, "")
	file, dir := filepath.Join(t.TempDir(), "saved.db"), t.TempDir()
	if err := server.SaveSnapshot(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	manager := etcdutl.NewV3(zap.NewNop())
	status, err := manager.Status(file)
	if err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(dir, "etcd")
	err = manager.Restore(etcdutl.RestoreConfig{SnapshotPath: file, Name: "restored", OutputDataDir: restored,
		PeerURLs: []string{"http://127.0.0.1:2380"}, InitialCluster: "restored=http://127.0.0.1:2380",
		InitialClusterToken: "restored"})
	if err != nil {
		t.Fatal(err)
	}
	info, before := records(t, file)
	after, got := records(t, restored)
	if info.Revision != status.Revision || after.Revision != info.Revision {
		t.Errorf("revisions: %d saved, %d by etcdutl, %d restored", info.Revision, status.Revision, after.Revision)
	}
	if len(before) < 50 || !slices.EqualFunc(before, got, same) {
		t.Errorf("%d records were saved, %d restored, or their bytes differ", len(before), len(got))
	}
	again := kubecascadetest.New(t, func(o *kubecascade.Options) {
		o.Storage.Dir, o.Controllers.Enabled = dir, []string{} // the new server has another CA to publish
	})
	if got := request(t, again, http.MethodGet, configMaps, ""); items(got) != items(want) {
		t.Errorf("the config maps differ: %d bytes, %d before", len(got), len(want))
	}
}

func same(a, b snapshot.Record) bool {
	return a.Key == b.Key && a.Revision == b.Revision && bytes.Equal(a.Value, b.Value)
}

// records returns the newest values in a file or a data directory.
func records(t *testing.T, path string) (snapshot.Info, []snapshot.Record) {
	t.Helper()
	f, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []snapshot.Record
	if err := f.Records(func(r snapshot.Record) error { all = append(all, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return f.Info, all
}

// items returns the part of a list after its metadata.
func items(list string) string { return list[strings.Index(list, `"items":`):] }

// request sends a request that must succeed, and returns the body of the response.
func request(t *testing.T, s *kubecascade.Server, method, path, body string) string {
	t.Helper()
	c, err := rest.HTTPClientFor(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	a, err := apiservertest.Send(c, method, s.URL()+path, body)
	if err != nil || a.Code/100 != 2 {
		t.Fatalf("%s %s: %d, %v: %s", method, path, a.Code, err, a.Body)
	}
	return string(a.Body)
}
