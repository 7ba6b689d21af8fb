package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/kubecascade/kubecascade/storage"
)

// limit is what the machine does without the server, by the row's name; it is measured when it is first needed. 0 if
// that fails.
func (b *bench) limit(ctx context.Context, what string) float64 {
	if _, known := b.limits[what]; !known {
		rows, err := b.machine(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, "measuring limits:", err)
			b.limits[what] = 0
		}
		for _, r := range rows {
			b.limits[r.What] = r.Mid
		}
	}
	return b.limits[what]
}

// etcdNow is a limit of bare etcd at this moment: the speed of a virtual machine may change by half within a minute,
// and the ratio to an older figure is then meaningless. 0 if that fails.
func (b *bench) etcdNow(ctx context.Context, operation string, writers int) float64 {
	rows, err := b.bareEtcd(ctx, writers)
	if err != nil {
		fmt.Fprintln(os.Stderr, "measuring limits:", err)
	}
	for _, r := range rows {
		b.limits[r.What] = r.Mid
	}
	return b.limits[etcdRow(operation, writers)]
}

// etcdRow is the name of the row of bare etcd's operation.
func etcdRow(operation string, writers int) string {
	return fmt.Sprintf("bare etcd %s, %d writers", operation, writers)
}

// machine measures the limits: what etcd alone does on this disk, in this process; what a handler that only sends bytes
// does over TLS, in another process; and how fast memory is copied.
func (b *bench) machine(ctx context.Context) (rows []row, err error) {
	for _, writers := range []int{1, 32, 64} {
		r, err := b.bareEtcd(ctx, writers)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	err = b.plain(ctx, func(t *target) error {
		for _, clients := range []int{1, 32} {
			m, err := t.drive(ctx, clients, 4*b.objects, func(c *conn, _ int) error {
				_, err := c.do(http.MethodGet, "/512", "", nil)
				return err
			})
			if err != nil {
				return err
			}
			rows = append(rows, m.row(fmt.Sprintf("plain handler of 512 B, %d clients", clients)))
		}
		return nil
	})
	const size = 32 << 20
	from, to := make([]byte, size), make([]byte, size)
	began, n := time.Now(), 0
	for ; time.Since(began) < time.Second/2; n++ {
		copy(to, from)
	}
	return append(
		rows, rowOf("memory copy", "MiB/s", []float64{float64(n) * size / (1 << 20) / time.Since(began).Seconds()}),
	), err
}

// bytesLimit is how often a second a plain handler sends so many bytes to one client.
func (b *bench) bytesLimit(ctx context.Context, size int) float64 {
	var m measured
	if err := b.plain(ctx, func(t *target) (err error) {
		m, err = t.drive(ctx, 1, 50, func(c *conn, _ int) error {
			_, err := c.do(http.MethodGet, "/"+strconv.Itoa(size), "", nil)
			return err
		})
		return err
	}); err != nil {
		fmt.Fprintln(os.Stderr, "measuring a limit:", err)
	}
	return m.rate
}

// bareEtcd is what the embedded etcd alone does on the same disk: conditional writes by so many writers, in this
// process.
func (b *bench) bareEtcd(ctx context.Context, writers int) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "kubecascade-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e, err := storage.Open(ctx, storage.Config{DataDir: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	n := b.objects
	if writers == 1 {
		n /= 5
	}
	value := []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","namespace":"default"}}`)
	revs := make([]int64, n)
	for _, what := range []string{"create", "update", "delete"} {
		if what == "delete" {
			value = nil
		}
		rate, err := inParallel(writers, n, func(i int) (err error) {
			revs[i], err = e.Commit(
				ctx, storage.Txn{Key: "/registry/configmaps/default/" + strconv.Itoa(i), Value: value, Expect: revs[i]},
			)
			return err
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, rowOf(etcdRow(what, writers), "/s", []float64{rate}))
	}
	return rows, nil
}
