package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// crowd is how many clients start at once, missed how many events each of them has missed if it resumes.
	crowd, missed = 100, 100
)

func storms() []workload {
	return []workload{
		{name: "100 informers of 2500 start at once", run: together(relisting(typedConfigMaps)), plain: true},
		{name: "100 watches resume at once, 100 events each", run: together(resuming(typedConfigMaps)), plain: true},
		{name: "100 informers of 2500 custom resources start at once", run: together(relisting(typedWidgets)), plain: true,
			custom: true},
		{name: "100 watches of custom resources resume at once, 100 events each",
			run: together(resuming(typedWidgets)), plain: true, custom: true},
	}
}

// together measures what clients, each with a connection of its own, do at once: the time from the common start, with
// the TLS handshake, until each has finished.
func together(
	prepare func(ctx context.Context, s *server) (func(ctx context.Context) error, error),
) func(context.Context, *server) (measured, error) {
	return func(ctx context.Context, s *server) (m measured, err error) {
		do, err := prepare(ctx, s)
		if err != nil {
			return m, err
		}
		var mu sync.Mutex // guards took
		var took []time.Duration
		before := s.usage()
		if err := inParallel(ctx, crowd, crowd, func(int) error {
			err := do(ctx)
			mu.Lock()
			took = append(took, time.Since(before.at))
			mu.Unlock()
			return err
		}); err != nil {
			return m, err
		}
		m = s.usage().since(before, crowd)
		m.p50, m.p99, m.longest = percentiles(took)
		return m, nil
	}
}

// relisting starts an informer that has nothing yet.
func relisting(k kind) func(context.Context, *server) (func(context.Context) error, error) {
	return func(_ context.Context, s *server) (func(context.Context) error, error) {
		return func(ctx context.Context) error {
			ctx, stop := context.WithCancel(ctx)
			var running sync.WaitGroup
			defer running.Wait()
			defer stop()
			_, err := follow(ctx, k, s, &running)
			return err
		}, nil
	}
}

// resuming continues a watch that has missed events, until it has all of them.
func resuming(k kind) func(context.Context, *server) (func(context.Context) error, error) {
	return func(ctx context.Context, s *server) (func(context.Context) error, error) {
		from := s
		if s.of != nil { // it stores no writes
			from = s.of
		}
		o, err := k(from.config, random)
		if err != nil {
			return nil, err
		}
		l, err := o.list(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return nil, err
		}
		at, err := meta.ListAccessor(l)
		if err != nil {
			return nil, err
		}
		for i := range missed {
			data := map[string]string{"k": value(random)}
			if err := o.update(ctx, fmt.Sprintf("n%06d", i), data); err != nil {
				return nil, err
			}
		}
		resume := func(ctx context.Context) error { return k.resume(ctx, s, at.GetResourceVersion()) }
		if s.of != nil { // the first one is that which it records
			err = resume(ctx)
		}
		return resume, err
	}
}

// resume watches from a revision, with a connection of its own, until all missed events have come.
func (k kind) resume(ctx context.Context, s *server, revision string) error {
	o, err := k(apart(s.config), random)
	if err != nil {
		return err
	}
	w, err := o.watch(ctx, metav1.ListOptions{ResourceVersion: revision, AllowWatchBookmarks: true})
	if err != nil {
		return err
	}
	defer w.Stop()
	n := 0
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			return fmt.Errorf("watching from %s: %v", revision, e.Object)
		}
		if e.Type == watch.Modified {
			if n++; n == missed {
				return nil
			}
		}
	}
	return fmt.Errorf("the watch ended after %d of %d events", n, missed)
}
