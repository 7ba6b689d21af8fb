package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// idleWatches is how many idle watches are open.
const idleWatches = 2000

// idle is the memory of idle watches, each on a connection of its own, or together on as few connections as HTTP/2
// allows.
func (b *bench) idle(ctx context.Context) (rows []row, err error) {
	for _, k := range []struct {
		what string
		open func(ctx context.Context, p *process, t *target) error
	}{
		{"each on its connection", func(ctx context.Context, _ *process, t *target) error {
			_, err := t.watch(ctx, "/api/v1/secrets?watch=1", func([]byte) bool { return true })
			return err
		}},
		{"over HTTP/2", multiplexed()},
	} {
		if err := b.serving(ctx, func(p *process, _ *http.Client) error {
			t, err := p.target()
			if err != nil {
				return err
			}
			before, err := atRest(ctx, t.pid)
			if err != nil {
				return err
			}
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			for range idleWatches {
				if err := k.open(ctx, p, t); err != nil {
					return err
				}
			}
			after, err := atRest(ctx, t.pid)
			rows = append(rows, rowOf(
				fmt.Sprintf("resident, an idle watch, of %d, %s", idleWatches, k.what), "KiB",
				[]float64{(after - before) * 1024 / idleWatches},
			))
			return err
		}); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// multiplexed opens watches of one process with one client.
func multiplexed() func(context.Context, *process, *target) error {
	var c *http.Client
	return func(ctx context.Context, p *process, _ *target) (err error) {
		if c == nil {
			if c, err = p.client(); err != nil {
				return err
			}
			c.Transport.(*http.Transport).ForceAttemptHTTP2 = true
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.secure+"/api/v1/secrets?watch=1", nil)
		if err != nil {
			return err
		}
		res, err := c.Do(req)
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(io.Discard, res.Body) // until ctx is done
			res.Body.Close()
		}()
		return nil
	}
}
