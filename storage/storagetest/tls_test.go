package storagetest

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecascade/kubecascade/storage"
)

// startSecure starts a cluster that takes clients with a certificate of the authority only.
func startSecure(t *testing.T, a *authority, until time.Time) *cluster {
	t.Helper()
	cert, key := a.issue("server", until)
	return startCluster(t, transport.TLSInfo{CertFile: cert, KeyFile: key, TrustedCAFile: a.file, ClientCertAuth: true})
}

// as returns the configuration of a client with a certificate of the authority.
func (c *cluster) as(a *authority, name string, until time.Time) storage.Config {
	c.t.Helper()
	cert, key := a.issue(name, until)
	return storage.Config{Endpoints: []string{c.endpoint()}, CAFile: a.file, CertFile: cert, KeyFile: key}
}

// rejected opens a store that can't be, and checks that the error names the endpoint and the reason.
func rejected(t *testing.T, what string, c storage.Config, reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	c.Logger = slog.New(slog.DiscardHandler)
	_, err := storage.Open(ctx, c)
	if !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), c.Endpoints[0]) ||
		!strings.Contains(err.Error(), reason) {
		t.Errorf("%s: %v", what, err)
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	a, other := newAuthority(t), newAuthority(t)
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	c := startSecure(t, a, soon)
	good := c.as(a, "kubecascade", soon)
	put(t, OpenConfig(t, good), key("a"), 0, "x")

	expired := startSecure(t, a, past)
	noCertificate, foreign, plain := good, c.as(other, "foreign", soon), good
	noCertificate.CertFile, noCertificate.KeyFile = "", ""
	foreign.CAFile = a.file
	plain.Endpoints = []string{strings.Replace(c.endpoint(), "https://", "http://", 1)}
	wrong := good
	wrong.CAFile = other.file
	var all sync.WaitGroup
	for _, r := range []struct {
		what, reason string
		config       storage.Config
	}{
		{"no authority", "certificate", storage.Config{Endpoints: good.Endpoints}},
		{"another authority", "certificate signed by unknown authority", wrong},
		{"no certificate", "certificate required", noCertificate},
		{"an expired certificate", "expired certificate", c.as(a, "old", past)},
		{"a certificate of another authority", "certificate", foreign},
		{"no TLS", "error reading server preface", plain},
		{"a server whose certificate is expired", "certificate has expired", expired.as(a, "kubecascade", soon)},
	} {
		all.Go(func() { rejected(t, r.what, r.config, r.reason) })
	}
	all.Wait()
}

// TestCertificateNamesUserOfEtcd: with authentication enabled, etcd takes the common name for the user.
func TestCertificateNamesUserOfEtcd(t *testing.T) {
	t.Parallel()
	a, soon := newAuthority(t), time.Now().Add(time.Hour)
	c := startSecure(t, a, soon)
	enable(t, c.as(a, "root", soon))

	e := OpenConfig(t, c.as(a, "writer", soon))
	l := Watch(t, e)
	l.WaitForReset(1)
	rev := put(t, e, key("a"), 0, "x")
	l.WaitFor(rev)
	if _, err := e.Commit(t.Context(), storage.Txn{Key: key("b"), Value: []byte("y"), TTL: time.Hour}); err != nil {
		t.Error(err)
	}
	if err := e.Compact(t.Context(), rev); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("compacting without the role root: %v", err)
	}
	if err := OpenConfig(t, c.as(a, "root", soon)).Compact(t.Context(), rev); err != nil {
		t.Error(err)
	}
	rejected(t, "a user without permissions", c.as(a, "idle", soon), "permission denied: with authentication enabled")
	rejected(t, "a name that is no user's", c.as(a, "unknown", soon), "with authentication enabled")
}

// enable makes users, "writer" with the permission for all keys below /registry and "idle" with none, and enables
// authentication.
func enable(t *testing.T, root storage.Config) {
	t.Helper()
	files := transport.TLSInfo{CertFile: root.CertFile, KeyFile: root.KeyFile, TrustedCAFile: root.CAFile}
	tls, err := files.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: root.Endpoints, TLS: tls})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := t.Context()
	for _, name := range []string{"root", "writer", "idle"} {
		_, err := client.UserAddWithOptions(ctx, name, "", &clientv3.UserAddOptions{NoPassword: true})
		if err == nil {
			_, err = client.RoleAdd(ctx, name)
		}
		if err == nil {
			_, err = client.UserGrantRole(ctx, name, name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = client.RoleGrantPermission(ctx, "writer", "/registry/", clientv3.GetPrefixRangeEnd("/registry/"),
		clientv3.PermissionType(clientv3.PermReadWrite))
	if err == nil {
		_, err = client.AuthEnable(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}
