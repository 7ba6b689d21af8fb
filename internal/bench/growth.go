package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// growth is the cost of the same requests with more and more objects of 1 KiB, and then with watches of other resources
// and idle clients; and the memory of so many objects at rest.
func (b *bench) growth(ctx context.Context) (rows []row, err error) {
	return rows, b.serve(ctx, func(t *target) error {
		filled := 0
		for _, n := range []int{1000, 10000, 100000} {
			if err := t.grow(ctx, filled, n); err != nil {
				return err
			}
			filled = n
			r, err := b.among(ctx, t, fmt.Sprintf("among %d objects", n), n)
			if err != nil {
				return err
			}
			rows = append(rows, r...)
		}
		mib, err := atRest(ctx, t.pid)
		rows = append(rows, rowOf("resident, 100000 objects of 1 KiB", "MiB", []float64{mib}))
		if err != nil {
			return err
		}
		beside, stop := context.WithCancel(ctx)
		defer stop()
		for range 1000 {
			if _, err := t.watch(beside, t.path("secrets")+"?watch=1", func([]byte) bool { return true }); err != nil {
				return err
			}
			c, err := t.dial(ctx)
			if err != nil {
				return err
			}
			defer c.close()
		}
		r, err := b.among(ctx, t, "and 1000 watchers of secrets and 1000 idle clients", filled)
		rows = append(rows, r...)
		return err
	})
}

// grow creates the objects from..to-1, of such a size that a client's response is 1 KiB.
func (t *target) grow(ctx context.Context, from, to int) error {
	small, err := t.once(
		ctx, http.MethodPost, t.path("configmaps")+"?dryRun=All", asJSON,
		[]byte(`{"metadata":{"name":"sample"},"data":{"k":""}}`),
	)
	if err != nil {
		return err
	}
	data := strings.Repeat("x", max(0, 1<<10-len(small)))
	_, err = t.drive(ctx, 32, to-from, func(c *conn, i int) error {
		_, err := c.do(
			http.MethodPost, t.path("configmaps"), asJSON,
			fmt.Appendf(nil, `{"metadata":{"name":"%06d"},"data":{"k":%q}}`, from+i, data),
		)
		return err
	})
	return err
}

// among is the figures for one number of objects.
func (b *bench) among(ctx context.Context, t *target, what string, n int) (rows []row, err error) {
	path := t.path("configmaps")
	const writes = 5000
	start := time.Now().UnixNano()
	patch, err := t.drive(ctx, 32, writes, func(c *conn, i int) error {
		_, err := c.do(
			http.MethodPatch, fmt.Sprintf("%s/%06d", path, i*7919%n), asPatch,
			fmt.Appendf(nil, `{"data":{"at":"%d"}}`, start+int64(i)),
		)
		return err
	})
	if err != nil {
		return nil, err
	}
	get, err := t.drive(ctx, 32, 2*writes, func(c *conn, i int) error {
		_, err := c.do(http.MethodGet, fmt.Sprintf("%s/%06d", path, i*7919%n), "", nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	page, err := t.drive(ctx, 1, 100, func(c *conn, _ int) error {
		_, err := c.do(http.MethodGet, path+"?limit=100", "", nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	event, _, err := t.fannedOut(ctx, fan{100, fanOutWriters, 0}, 1000, fmt.Sprintf("e%d", start))
	if err != nil {
		return nil, err
	}
	cascade, err := t.cascade(ctx, "Background", fmt.Sprintf("g%d", start), 1000)
	return []row{patch.row("merge patch, 32 clients, " + what), get.row("get, 32 clients, " + what),
		page.row("page of 100, " + what),
		event.row("events to 100 watchers, " + what), cascade.row("cascade of 1000, " + what)}, err
}
