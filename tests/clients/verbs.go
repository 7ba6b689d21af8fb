package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// verb is one request of a client, or two for an update.
type verb struct {
	name string
	// made says that the objects must exist.
	made bool
	of   func(o *objects) func(ctx context.Context, name string) error
}

// small is the data of the objects that are written and read one by one.
var small = map[string]string{"k": "v"}

func creation(o *objects) func(ctx context.Context, name string) error {
	return func(ctx context.Context, name string) error {
		return o.create(ctx, metav1.ObjectMeta{Name: name}, small)
	}
}

func verbs() []verb {
	type does = func(ctx context.Context, name string) error
	return []verb{
		{"create", false, creation},
		{"get", true, func(o *objects) does { return o.get }},
		{"update (get and put)", true, func(o *objects) does {
			return func(ctx context.Context, name string) error {
				return o.update(ctx, name, map[string]string{"k": "w"})
			}
		}},
		{"merge patch", true, func(o *objects) does { return o.patch }},
		{"apply", true, func(o *objects) does { return o.apply }},
		{"delete", true, func(o *objects) does { return o.discard }},
	}
}

// singles are the cases of single objects: by 32 goroutines that share a connection, by 32 with one each, and by one.
// Other clients than the typed one with its defaults are measured with 32 goroutines alone.
func singles() (cases []workload) {
	shared := clients{"32 goroutines", 32, 4000, false}
	for _, c := range []clients{shared, {"32 connections", 32, 4000, true}, {"1 goroutine", 1, 500, false}} {
		for _, v := range verbs() {
			cases = append(cases,
				workload{name: fmt.Sprintf("%s, %s", v.name, c.name), run: v.by(typedConfigMaps, c), plain: true,
					writes: v.name != "get"},
				workload{name: fmt.Sprintf("%s, custom resource, %s", v.name, c.name), run: v.by(typedWidgets, c),
					plain: true, writes: v.name != "get", custom: true})
		}
	}
	for _, o := range []struct {
		name string
		kind kind
		// verbs are the beginnings of their names.
		verbs []string
	}{
		{"JSON", inJSON(typedConfigMaps), []string{"create", "get", "update", "merge patch"}},
		{"dynamic client", dynamicConfigMaps, []string{"create", "update", "merge patch", "apply", "delete"}},
		{"metadata client", metadataConfigMaps, []string{"merge patch", "delete"}},
	} {
		for _, v := range verbs() {
			if slices.ContainsFunc(o.verbs, func(name string) bool { return strings.HasPrefix(v.name, name) }) {
				cases = append(cases, workload{name: fmt.Sprintf("%s, %s, %s", v.name, o.name, shared.name),
					run: v.by(o.kind, shared), plain: true, writes: v.name != "get"})
			}
		}
	}
	return cases
}

// clients are goroutines that make n requests together. If they are apart, each has a client of its own, and so a
// connection.
type clients struct {
	name          string
	goroutines, n int
	apart         bool
}

// of returns as many clients as there are goroutines.
func (c clients) of(k kind, s *server) (free chan *objects, err error) {
	free = make(chan *objects, c.goroutines)
	var o *objects
	for range c.goroutines {
		config := s.config
		if c.apart {
			config = apart(config)
		}
		if o == nil || c.apart {
			if o, err = k(config, random); err != nil {
				return nil, err
			}
		}
		free <- o
	}
	return free, nil
}

// runNumber makes the names of each run unique.
var runNumber atomic.Int64

// by measures the requests of clients.
func (v verb) by(k kind, c clients) func(context.Context, *server) (measured, error) {
	return func(ctx context.Context, s *server) (m measured, err error) {
		o, err := k(s.config, random)
		if err != nil {
			return m, err
		}
		free, err := c.of(k, s)
		if err != nil {
			return m, err
		}
		run := runNumber.Add(1)
		name := func(i int) string { return fmt.Sprintf("run%d-%d", run, i) }
		if v.made {
			create := creation(o)
			if err := inParallel(ctx, 32, c.n, func(i int) error { return create(ctx, name(i)) }); err != nil {
				return m, err
			}
		}
		var mu sync.Mutex // guards took
		took := make([]time.Duration, 0, c.n)
		before := s.usage()
		if err := inParallel(ctx, c.goroutines, c.n, func(i int) error {
			by := <-free
			defer func() { free <- by }()
			start := time.Now()
			err := v.of(by)(ctx, name(i))
			mu.Lock()
			took = append(took, time.Since(start))
			mu.Unlock()
			return err
		}); err != nil {
			return m, err
		}
		m = s.usage().since(before, c.n)
		m.p50, m.p99, m.longest = percentiles(took)
		return m, o.clear(ctx)
	}
}
