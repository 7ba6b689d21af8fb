package storagetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"

	"github.com/kubecascade/kubecascade/storage"
)

// restored is a cluster behind a proxy, and what becomes of a store over it.
type restored struct {
	*cluster
	proxy *proxy
	store *storage.Etcd
	// fatal gets what Config.Fatal is called with.
	fatal chan error
}

// startRestored starts a cluster with two writes, of a and b.
func startRestored(t *testing.T) *restored {
	t.Helper()
	r := &restored{cluster: startCluster(t, transport.TLSInfo{}), fatal: make(chan error, 9)}
	r.proxy = newProxy(t, r.config.ListenClientUrls[0].Path)
	r.store = OpenConfig(t, storage.Config{
		Endpoints: []string{r.proxy.endpoint()}, Fatal: func(err error) { r.fatal <- err },
	})
	put(t, r.store, key("a"), 0, "1")
	put(t, r.store, key("b"), 0, "2")
	return r
}

// offline has change work on the directory while etcd is stopped; the store can connect when it is back.
func (r *restored) offline(change func(dir string)) {
	r.t.Helper()
	r.proxy.cut()
	r.stop()
	change(r.config.Dir)
	r.start()
	r.proxy.heal()
}

// backup copies etcd's directory.
func (r *restored) backup() (copied string) {
	r.t.Helper()
	copied = filepath.Join(r.t.TempDir(), "backup")
	r.offline(func(dir string) {
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			r.t.Fatal(err)
		}
	})
	if _, err := r.store.Revision(r.t.Context()); err != nil { // connected again
		r.t.Fatal(err)
	}
	return copied
}

// restore replaces etcd's directory.
func (r *restored) restore(backup string) func(dir string) {
	return func(dir string) {
		err := os.RemoveAll(dir)
		if err == nil && backup != "" {
			err = os.CopyFS(dir, os.DirFS(backup))
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestNoRequestSucceedsAfterSetBack sets etcd back under a store that has a follower. No request may be answered from
// then on, and the store requests the end of the process.
func TestNoRequestSucceedsAfterSetBack(t *testing.T) {
	for name, c := range map[string]struct {
		// change works on the directory when c and d were written and d was removed.
		change func(r *restored, backup, dir string)
		reason string
	}{
		"backup": {func(r *restored, backup, dir string) { r.restore(backup)(dir) }, "it is at revision"},
		"empty": {func(r *restored, _, dir string) {
			r.config.InitialClusterToken = "other"
			r.restore("")(dir)
		}, "its cluster id is"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRestored(t)
			backup := r.backup()
			reached := make(chan int64, 99)
			ended := make(chan error, 1)
			go func() {
				ended <- r.store.Follow(t.Context(), func(b storage.Batch) error {
					reached <- b.Revision
					return nil
				})
			}()
			<-reached
			put(t, r.store, key("c"), 0, "3")
			rev := remove(t, r.store, key("d"), put(t, r.store, key("d"), 0, "4"))
			for <-reached < rev {
			}
			r.offline(func(dir string) { c.change(r, backup, dir) })
			nothingWorks(t, r.store)
			if err := <-r.fatal; !errors.Is(err, storage.ErrSetBack) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("fatal: %v", err)
			}
			if err := <-ended; !errors.Is(err, storage.ErrSetBack) {
				t.Errorf("the follower ended with %v", err)
			}
			if len(r.fatal) > 0 {
				t.Errorf("fatal again: %v", <-r.fatal)
			}
		})
	}
}

func TestTwinSetBack(t *testing.T) {
	w := NewTwin()
	put(t, w, key("a"), 0, "1")
	following, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- w.Follow(t.Context(), func(storage.Batch) error { close(following); return nil })
	}()
	<-following
	w.SetBack()
	nothingWorks(t, w)
	if err := <-ended; !errors.Is(err, storage.ErrSetBack) {
		t.Errorf("the follower ended with %v", err)
	}
}

// nothingWorks makes requests at once, and some more, all of which must fail.
func nothingWorks(t *testing.T, s storage.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for name, request := range map[string]func(i int) error{
		"get":      func(int) error { _, err := s.Get(ctx, key("c")); return err },
		"list":     func(int) error { _, err := s.List(ctx, storage.Range{Prefix: "/registry/"}); return err },
		"revision": func(int) error { _, err := s.Revision(ctx); return err },
		"commit": func(i int) error {
			_, err := s.Commit(ctx, storage.Txn{Key: key(fmt.Sprint("new", i)), Value: []byte("x")})
			return err
		},
	} {
		for i := range 8 {
			all.Go(func() {
				for range 4 {
					err := request(i)
					late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
					if !errors.Is(err, storage.ErrUnavailable) || late {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
	}
	all.Wait()
}
