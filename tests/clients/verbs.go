package main

import (
	"context"
	"fmt"
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

// singles are the cases of single objects, by 32 goroutines that share a connection and by one.
func singles() (cases []workload) {
	for _, goroutines := range []int{32, 1} {
		n, by := 4000, "32 goroutines"
		if goroutines == 1 {
			n, by = 500, "1 goroutine"
		}
		for _, v := range verbs() {
			cases = append(cases,
				workload{name: fmt.Sprintf("%s, %s", v.name, by), run: v.by(typedConfigMaps, goroutines, n), plain: true,
					writes: v.name != "get"},
				workload{name: fmt.Sprintf("%s, custom resource, %s", v.name, by), run: v.by(typedWidgets, goroutines, n),
					plain: true, writes: v.name != "get", custom: true})
		}
	}
	return cases
}

// runNumber makes the names of each run unique.
var runNumber atomic.Int64

// by measures n requests by so many goroutines that share a client, and so a connection.
func (v verb) by(k kind, goroutines, n int) func(context.Context, *server) (measured, error) {
	return func(ctx context.Context, s *server) (m measured, err error) {
		o, err := k(s.config, random)
		if err != nil {
			return m, err
		}
		run := runNumber.Add(1)
		name := func(i int) string { return fmt.Sprintf("run%d-%d", run, i) }
		if v.made {
			create := creation(o)
			if err := inParallel(ctx, 32, n, func(i int) error { return create(ctx, name(i)) }); err != nil {
				return m, err
			}
		}
		do := v.of(o)
		var mu sync.Mutex // guards took
		took := make([]time.Duration, 0, n)
		before, began := s.cpu(), time.Now()
		if err := inParallel(ctx, goroutines, n, func(i int) error {
			start := time.Now()
			err := do(ctx, name(i))
			mu.Lock()
			took = append(took, time.Since(start))
			mu.Unlock()
			return err
		}); err != nil {
			return m, err
		}
		m = measured{rate: float64(n) / time.Since(began).Seconds(), cpu: (s.cpu() - before) / time.Duration(n)}
		m.p50, m.p99 = percentiles(took)
		return m, o.clear(ctx)
	}
}
