package storage_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// stores are the embedded ones: in memory as far as the machine allows, and on the disk of $TMPDIR.
func stores(b *testing.B, run func(b *testing.B, c storage.Config)) {
	b.Run("ephemeral", func(b *testing.B) { run(b, storage.Config{Ephemeral: true}) })
	b.Run("durable", func(b *testing.B) { run(b, storage.Config{DataDir: b.TempDir()}) })
}

var value = []byte(
	`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"` + strings.Repeat("v", 900) + `"}}`,
)

// BenchmarkOpen is from nothing to the first acknowledged write.
func BenchmarkOpen(b *testing.B) {
	stores(b, func(b *testing.B, c storage.Config) {
		for i := 0; b.Loop(); i++ {
			if c.DataDir != "" {
				c.DataDir = b.TempDir()
			}
			e, err := storage.Open(b.Context(), c)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := e.Commit(b.Context(), storage.Txn{Key: "/registry/a/b", Value: value}); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			e.Close()
			b.StartTimer()
		}
	})
}

// BenchmarkReopen is from a directory of 1000 objects, closed or killed, to the first read.
func BenchmarkReopen(b *testing.B) {
	c := storage.Config{DataDir: b.TempDir()}
	e := storagetest.OpenConfig(b, c)
	commit(b, e, 1000, 64)
	e.Close()
	for b.Loop() {
		e, err := storage.Open(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := e.Get(b.Context(), "/registry/configmaps/default/0"); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		e.Close()
		b.StartTimer()
	}
}

// commit creates n objects from so many goroutines.
func commit(b *testing.B, s storage.Store, n, writers int) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				if _, err := s.Commit(
					b.Context(), storage.Txn{Key: fmt.Sprint("/registry/configmaps/default/", i), Value: value},
				); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(writers, "writers"), func(b *testing.B) {
			stores(b, func(b *testing.B, c storage.Config) {
				e := storagetest.OpenConfig(b, c)
				b.ReportAllocs()
				b.ResetTimer()
				commit(b, e, b.N, writers)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			})
		})
	}
}

func BenchmarkGet(b *testing.B) {
	e := storagetest.Open(b)
	commit(b, e, 1000, 64)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for i := 0; p.Next(); i++ {
			if _, err := e.Get(b.Context(), fmt.Sprint("/registry/configmaps/default/", i%1000)); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkRevision(b *testing.B) {
	e := storagetest.Open(b)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := e.Revision(b.Context()); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkFollow is from the begin of a commit until a follower has its event.
func BenchmarkFollow(b *testing.B) {
	e := storagetest.Open(b)
	l := storagetest.Watch(b, e)
	l.WaitForReset(1)
	for i := 0; b.Loop(); i++ {
		rev, err := e.Commit(b.Context(), storage.Txn{Key: fmt.Sprint("/registry/configmaps/default/", i), Value: value})
		if err != nil {
			b.Fatal(err)
		}
		l.WaitFor(rev)
	}
}
