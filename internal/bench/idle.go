package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
)

const (
	// idleWatches is how many idle watches are open.
	idleWatches = 2000
	// idleObjects is how many objects of 1 KiB are the initial events of each watch-list.
	idleObjects = 100
)

// idleCase is a way to hold watches open.
type idleCase struct {
	what string
	// open opens one of them. A watch that has initial events is open when it has all of them.
	open func(ctx context.Context, p *process, t *target) error
}

// idle is the memory of idle watches: each on a connection of its own, or together on as few connections as HTTP/2
// allows. Those of client-go's informers begin with initial events (a watch-list), in protobuf or JSON, and with gzip.
func (b *bench) idle(ctx context.Context) (rows []row, err error) {
	cases := []idleCase{
		{"watch, of %d, each on its connection", func(ctx context.Context, _ *process, t *target) error {
			_, err := t.watch(ctx, "/api/v1/secrets?watch=1", func([]byte) bool { return true })
			return err
		}},
		{"watch, of %d, over HTTP/2", multiplexed(func(*target) string { return "/api/v1/secrets?watch=1" }, nil)},
	}
	for _, f := range forms() {
		cases = append(cases, idleCase{
			"watch-list, of %d, over HTTP/2, " + f.name,
			multiplexed(func(t *target) string {
				return t.path("configmaps") + "?watch=1&allowWatchBookmarks=true&sendInitialEvents=true" +
					"&resourceVersionMatch=NotOlderThan"
			}, f.header()),
		})
	}
	for _, c := range cases {
		r, err := b.idling(ctx, c)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", c.what, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// idling measures one case on a server of its own.
func (b *bench) idling(ctx context.Context, c idleCase) (r row, err error) {
	err = b.serving(ctx, func(p *process, _ *http.Client) error {
		t, err := p.target()
		if err != nil {
			return err
		}
		return t.within(ctx, func(t *target) error {
			if err := t.fill(ctx, "configmaps", idleObjects, 1024, func(int) string { return "" }); err != nil {
				return err
			}
			before, err := atRest(ctx, t.pid)
			if err != nil {
				return err
			}
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			for range idleWatches {
				if err := c.open(ctx, p, t); err != nil {
					return err
				}
			}
			after, err := atRest(ctx, t.pid)
			r = rowOf("resident, an idle "+fmt.Sprintf(c.what, idleWatches), "KiB",
				[]float64{(after - before) * 1024 / idleWatches})
			return err
		})
	})
	return r, err
}

// multiplexed opens watches of one process with one client. Without headers they have no initial events.
func multiplexed(path func(*target) string, header http.Header) func(context.Context, *process, *target) error {
	var c *http.Client
	return func(ctx context.Context, p *process, t *target) (err error) {
		if c == nil {
			if c, err = p.client(); err != nil {
				return err
			}
			c.Transport.(*http.Transport).ForceAttemptHTTP2 = true
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.secure+path(t), nil)
		if err != nil {
			return err
		}
		maps.Copy(req.Header, header)
		res, err := c.Do(req)
		if err != nil {
			return err
		}
		if header != nil {
			err = passInitial(res, header)
		}
		go func() {
			_, _ = io.Copy(io.Discard, res.Body) // until ctx is done
			res.Body.Close()
		}()
		return err
	}
}

// passInitial reads the initial events of a watch up to the bookmark that ends them. It returns an error if the
// response is not in the form that was requested.
func passInitial(res *http.Response, header http.Header) error {
	var events io.Reader = res.Body
	switch {
	case !strings.HasPrefix(res.Header.Get("Content-Type"), header.Get("Accept")):
		return fmt.Errorf("%s: the response is %s", res.Status, res.Header.Get("Content-Type"))
	case header.Get("Accept-Encoding") == "gzip":
		if res.Header.Get("Content-Encoding") != "gzip" {
			return errors.New("the response is not compressed")
		}
		z, err := gzip.NewReader(events)
		if err != nil {
			return err
		}
		events = z
	}
	end := []byte("k8s.io/initial-events-end")
	for kept, buf := 0, make([]byte, 64<<10); ; {
		n, err := events.Read(buf[kept:])
		read := buf[:kept+n]
		if bytes.Contains(read, end) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("initial events: %w", err)
		}
		kept = copy(buf, read[max(0, len(read)-len(end)):])
	}
}
