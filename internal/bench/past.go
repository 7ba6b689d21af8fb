package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Past lists: so many objects of 1 KiB, pages of so many, and so many later writes that the history in memory doesn't
// reach back (kube-apiserver's watch cache has at most 102,400 events of a resource, this server's 16,384).
const (
	pastObjects = 100000
	pastPage    = 500
	pastWrites  = 20000
	pastClients = 16
)

// pastLists lists pages at revisions that only etcd has: one client, then 16 at one revision, then 16 at 16 revisions;
// and it measures the memory beyond that of the same pages at the newest revision.
func (b *bench) pastLists(ctx context.Context) (rows []row, err error) {
	return rows, b.serve(ctx, func(t *target) error {
		if err := t.grow(ctx, 0, pastObjects); err != nil {
			return err
		}
		revisions, err := t.age(ctx)
		if err != nil {
			return err
		}
		for _, k := range []struct {
			what      string
			clients   int
			revisions []string
		}{
			{"newest, 1 client", 1, []string{""}},
			{"newest, 16 clients", pastClients, []string{""}},
			{"past the history, 1 client", 1, revisions[:1]},
			{"past the history, 16 clients at one revision", pastClients, revisions[1:2]},
			{"past the history, 16 clients at 16 revisions", pastClients, revisions},
		} {
			r, err := t.paging(ctx, k.clients, k.revisions)
			if err != nil {
				return err
			}
			for _, r := range r {
				r.What = fmt.Sprintf("page of %d of %d, %s%s", pastPage, pastObjects, k.what, r.What)
				rows = append(rows, r)
			}
		}
		return nil
	})
}

// age returns the revisions after each of the first writes, and writes until no history in memory reaches back to them.
func (t *target) age(ctx context.Context) (revisions []string, err error) {
	for i := range pastClients {
		data, err := t.once(
			ctx, http.MethodPatch, t.path("configmaps")+"/000000", asPatch, fmt.Appendf(nil, `{"data":{"at":"%d"}}`, i),
		)
		if err != nil {
			return nil, err
		}
		var o struct {
			Metadata struct{ ResourceVersion string }
		}
		if err := json.Unmarshal(data, &o); err != nil {
			return nil, fmt.Errorf("decoding a config map: %w", err)
		}
		revisions = append(revisions, o.Metadata.ResourceVersion)
	}
	_, err = t.drive(ctx, 32, pastWrites, func(c *conn, i int) error {
		_, err := c.do(
			http.MethodPatch, fmt.Sprintf("%s/%06d", t.path("configmaps"), 1+i%(pastObjects-1)), asPatch,
			fmt.Appendf(nil, `{"data":{"at":"w%d"}}`, i),
		)
		return err
	})
	return revisions, err
}

// paging has each client list pages at one of the revisions, and start again after the last page; an empty revision is
// the newest.
func (t *target) paging(ctx context.Context, clients int, revisions []string) (rows []row, err error) {
	stop := func() (float64, error) { return 0, nil }
	if t.pid != 0 {
		if _, err = atRest(ctx, t.pid); err != nil {
			return nil, err
		}
		if stop, err = growing(t.pid); err != nil {
			return nil, err
		}
	}
	var lists sync.Map // of each connection
	var joined atomic.Int64
	m, err := t.drive(ctx, clients, clients*pastObjects/pastPage, func(c *conn, _ int) error {
		l, ok := lists.Load(c)
		if !ok {
			l = &paged{revision: revisions[int(joined.Add(1)-1)%len(revisions)]}
			lists.Store(c, l)
		}
		return l.(*paged).next(c, t.path("configmaps"))
	})
	most, e := stop()
	if err = errors.Join(err, e); err != nil {
		return nil, err
	}
	rows = append(rows, m.row(""))
	if t.pid != 0 {
		rows = append(rows, rowOf(": memory beyond that at rest", "MiB", []float64{most}))
	}
	return rows, nil
}

// growing watches a process' memory; stop returns by how many MiB it exceeded the initial value at most.
func growing(pid int) (stop func() (float64, error), err error) {
	before, err := resident(pid)
	if err != nil {
		return nil, err
	}
	end, done, most := make(chan struct{}), make(chan struct{}), before
	go func() {
		defer close(done)
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			select {
			case <-end:
				tick.Stop()
				return
			case <-tick.C:
				now := 0.0
				if now, err = resident(pid); err != nil {
					return
				}
				most = max(most, now)
			}
		}
	}()
	return func() (float64, error) {
		close(end)
		<-done
		return most - before, err
	}, nil
}

// paged is a client's list.
type paged struct{ revision, token string }

// next requests one page.
func (l *paged) next(c *conn, path string) error {
	query := "&continue=" + l.token
	if l.token == "" && l.revision != "" {
		query = "&resourceVersionMatch=Exact&resourceVersion=" + l.revision
	}
	data, err := c.do(http.MethodGet, fmt.Sprintf("%s?limit=%d%s", path, pastPage, query), "", nil)
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(data[:min(len(data), 1<<10)]), `"continue":"`)
	l.token, _, _ = strings.Cut(rest, `"`)
	return nil
}
