package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// The names of memoryCase's figures.
const (
	newPages     = "pages of 500 at the newest revision, 16 clients"
	oldPages     = "pages of 500 at one old revision, 1 client"
	manyOldPages = "pages of 500 at 16 old revisions, 16 clients"
)

// crowded returns the name of the figure of clients that list all objects at once, rejected that of their 429
// responses.
func crowded(form string) string  { return fmt.Sprintf("%d lists at once, %s", crowd, form) }
func rejected(form string) string { return crowded(form) + ", rejected" }

// memoryCase measures the memory of a server with n objects of 1 KiB, and the additional memory while clients read all
// of them.
func memoryCase(n int) workload {
	w := workload{name: fmt.Sprintf("%d objects of 1 KiB", n), once: true, figures: []string{idleShare, idleResident}}
	for _, f := range forms()[:3] {
		w.figures = append(w.figures, crowded(f.name), rejected(f.name))
	}
	w.figures = append(w.figures, newPages, oldPages, manyOldPages)
	w.run = func(ctx context.Context, r *run) error {
		namespace, err := r.fresh(ctx)
		if err != nil {
			return err
		}
		path := configMaps.path(namespace)
		if err := configMaps.fill(ctx, r.server.admin, namespace, n, oneKiB); err != nil {
			return err
		}
		return errors.Join(r.atRest(ctx), r.crowds(ctx, path), r.pages(ctx, path, n))
	}
	return w
}

// crowds measures clients, each with its own connection, that list all objects at once.
func (r *run) crowds(ctx context.Context, path string) error {
	for _, f := range forms()[:3] {
		if !r.wants(crowded(f.name)) && !r.wants(rejected(f.name)) {
			continue
		}
		var busy atomic.Int64
		err := r.drive(ctx, crowded(f.name), crowd, crowd, func(ctx context.Context, _ int) error {
			c, err := r.server.client(http2)
			if err != nil {
				return err
			}
			defer c.close()
			err = c.send(ctx, request{method: "GET", path: path, accept: f.accept})
			var status *failure
			if errors.As(err, &status) && status.code == http.StatusTooManyRequests {
				busy.Add(1)
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
		r.add(rejected(f.name), sample{value: float64(busy.Load())})
	}
	return nil
}

// pages measures clients that read all objects in pages: at the newest revision, and at revisions that the server no
// longer has in memory, so that only etcd has them.
func (r *run) pages(ctx context.Context, path string, n int) error {
	if !r.wants(newPages) && !r.wants(oldPages) && !r.wants(manyOldPages) {
		return nil
	}
	const clients = 16
	revisions := make([]string, clients)
	write := func(ctx context.Context, i int) (revision string, err error) {
		body := fmt.Sprintf(`{"data":{"at":"%d"}}`, i)
		_, revision, err = r.server.admin.metadata(ctx, request{method: "PATCH", media: asMergePatch,
			path: path + "/" + objectName(i%n), body: body})
		return revision, err
	}
	for i := range revisions {
		var err error
		if revisions[i], err = write(ctx, i); err != nil {
			return err
		}
	}
	if _, err := inParallel(ctx, 32, r.bench.size(20_000), func(ctx context.Context, i int) error {
		_, err := write(ctx, clients+i)
		return err
	}); err != nil {
		return err
	}
	return errors.Join(
		r.paging(ctx, newPages, path, make([]string, clients), n),
		r.paging(ctx, oldPages, path, revisions[:1], n),
		r.paging(ctx, manyOldPages, path, revisions, n))
}

// paging starts a client for each revision, which lists n objects in pages at this revision. "" is the newest revision.
func (r *run) paging(ctx context.Context, figure, path string, revisions []string, n int) error {
	if !r.wants(figure) {
		return nil
	}
	const limit = 500
	_, err := r.during(ctx, figure, len(revisions)*(n+limit-1)/limit, func() ([]time.Duration, error) {
		_, err := inParallel(ctx, len(revisions), len(revisions), func(ctx context.Context, i int) error {
			query := ""
			if revisions[i] != "" {
				query = "&resourceVersionMatch=Exact&resourceVersion=" + revisions[i]
			}
			for {
				page := request{method: "GET", path: fmt.Sprintf("%s?limit=%d%s", path, limit, query)}
				data, err := r.server.admin.read(ctx, page)
				if err != nil {
					return err
				}
				_, rest, more := strings.Cut(string(data[:min(len(data), 1<<10)]), `"continue":"`)
				if !more {
					return nil
				}
				token, _, _ := strings.Cut(rest, `"`)
				query = "&continue=" + token
			}
		})
		return nil, err
	})
	return err
}
