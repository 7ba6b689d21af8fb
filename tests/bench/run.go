package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// stage is a list of cases that share servers.
type stage struct {
	// prepare fills a new server for the cases. It is nil if each run of a case starts its own server.
	prepare func(ctx context.Context, r *run) error
	cases   []workload
}

type workload struct {
	// name is the name of the case's figure, or the prefix of its figures' names.
	name    string
	figures []string
	// custom reports whether the case uses only custom resources, so that the peer can run it.
	custom bool
	// once reports whether the case runs only once, because it takes minutes.
	once bool
	run  func(ctx context.Context, r *run) error
}

// full returns the full name of a figure of the case.
func (w workload) full(figure string) string {
	if figure == "" {
		return w.name
	}
	return w.name + ", " + figure
}

func (w workload) all() (names []string) {
	if len(w.figures) == 0 {
		return []string{w.name}
	}
	for _, f := range w.figures {
		names = append(names, w.full(f))
	}
	return names
}

func (b *bench) list(to io.Writer) error {
	var names []string
	for _, s := range b.stages() {
		for _, w := range s.cases {
			names = append(names, w.all()...)
		}
	}
	_, err := fmt.Fprintln(to, strings.Join(names, "\n"))
	return err
}

// measure runs the selected cases of all stages.
func (b *bench) measure(ctx context.Context) (err error) {
	for _, s := range b.stages() {
		s.cases = slices.DeleteFunc(s.cases, func(w workload) bool {
			return !slices.ContainsFunc(w.all(), b.only.MatchString)
		})
		if len(s.cases) > 0 && ctx.Err() == nil {
			err = errors.Join(err, b.stage(ctx, s))
		}
	}
	if err == nil && len(b.table.samples) == 0 {
		err = fmt.Errorf("-only: no figure matches %q; -list prints their names", b.only)
	}
	return err
}

// stage runs the cases of a stage on its servers.
func (b *bench) stage(ctx context.Context, s stage) (err error) {
	servers := make([]*server, len(b.programs))
	defer func() {
		for _, server := range servers {
			err = errors.Join(err, server.stop())
		}
	}()
	custom := slices.ContainsFunc(s.cases, func(w workload) bool { return w.custom })
	for i, p := range b.programs {
		if s.prepare == nil || p.peer && !custom {
			continue
		}
		r := &run{bench: b, program: p}
		err := r.start(ctx)
		servers[i] = r.server
		if err == nil {
			err = s.prepare(ctx, r)
		}
		if err != nil {
			return fmt.Errorf("preparing %s: %w", p.path, err)
		}
	}
	for _, w := range s.cases {
		if e := b.repeat(ctx, w, servers); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", w.name, e))
		}
		fmt.Fprintln(os.Stderr, w.name, "is done")
		if ctx.Err() != nil {
			break
		}
	}
	return err
}

// repeat runs a case on all servers in turn. servers are those of the stage, in the order of the programs, or nil.
func (b *bench) repeat(ctx context.Context, w workload, servers []*server) error {
	runs := b.runs
	if w.once {
		runs = 1
	}
	for n := range runs {
		for i, p := range b.programs {
			if p.peer && !w.custom {
				continue
			}
			r := &run{bench: b, program: p, server: servers[i], of: w, number: n}
			err := w.run(ctx, r)
			if r.server != servers[i] {
				err = errors.Join(err, r.server.stop())
			}
			if err != nil {
				return fmt.Errorf("%s: %w", p.path, err)
			}
		}
	}
	return nil
}

type run struct {
	bench   *bench
	program program
	// server is the server of the stage, or the one that start has started for this run.
	server *server
	of     workload
	number int
}

// start starts a server for this run. The server ends with the run.
func (r *run) start(ctx context.Context, flags ...string) (err error) {
	if r.bench.profile != "" && !r.program.peer {
		flags = append(flags, "--profiling")
	}
	r.server, err = r.program.start(ctx, flags...)
	return err
}

// fresh starts a server for this run, and creates a namespace.
func (r *run) fresh(ctx context.Context, flags ...string) (namespace string, err error) {
	if err := r.start(ctx, flags...); err != nil {
		return "", err
	}
	return r.namespace(ctx)
}

// wants reports whether a figure of the case is selected.
func (r *run) wants(figure string) bool { return r.bench.only.MatchString(r.of.full(figure)) }

// add records a figure if it is selected.
func (r *run) add(figure string, s sample) {
	if r.wants(figure) {
		r.bench.table.add(r.of.full(figure), r.program.label, s)
	}
}

// wait waits for the server to become idle, and for its runtime to return memory to the system.
func (r *run) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(time.Duration(float64(d) * r.bench.scale)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const namespaces = "/api/v1/namespaces"

// created makes the names of namespaces unique.
var created atomic.Int64

// namespace creates a namespace. The peer serves no namespaces, and accepts objects in any.
func (r *run) namespace(ctx context.Context) (string, error) {
	name := fmt.Sprintf("bench-%d", created.Add(1))
	if r.program.peer {
		return name, nil
	}
	body := fmt.Sprintf(`{"metadata":{"name":%q}}`, name)
	return name, r.server.admin.send(ctx, request{method: "POST", path: namespaces, body: body})
}

// during measures f, which executes n operations, and may return the duration of each.
func (r *run) during(
	ctx context.Context, figure string, n int, f func() ([]time.Duration, error),
) (s sample, err error) {
	profiled := r.profile(ctx, figure)
	pid := r.server.PID()
	if err := resetPeak(pid); err != nil {
		return s, err
	}
	before, err := processorTime(pid)
	if err != nil {
		return s, err
	}
	began := time.Now()
	took, err := f()
	elapsed := time.Since(began)
	after, unread := processorTime(pid) // before the profile ends, because that takes processor time, too
	if err := errors.Join(err, unread, <-profiled); err != nil {
		return s, err
	}
	s = sample{unit: "/s", value: float64(n) / elapsed.Seconds(), server: (after - before) / time.Duration(n)}
	s.p50, s.p99 = percentiles(took)
	_, s.peak, err = memory(pid)
	r.add(figure, s)
	return s, err
}

// until measures the time from the call of start, which begins n operations, until done receives their result.
func (r *run) until(ctx context.Context, figure string, n int, done <-chan error, start func() error) (sample, error) {
	return r.during(ctx, figure, n, func() ([]time.Duration, error) {
		if err := start(); err != nil {
			return nil, err
		}
		return nil, <-done
	})
}

// drive measures n operations that several goroutines execute.
func (r *run) drive(
	ctx context.Context, figure string, goroutines, n int, operation func(ctx context.Context, i int) error,
) error {
	_, err := r.during(ctx, figure, n, func() ([]time.Duration, error) {
		return inParallel(ctx, goroutines, n, operation)
	})
	return err
}

// inParallel executes n operations with several goroutines, and returns the duration of each.
func inParallel(
	ctx context.Context, goroutines, n int, operation func(ctx context.Context, i int) error,
) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(goroutines)
	for i := 0; i < n && running.Err() == nil; i++ {
		group.Go(func() error {
			began := time.Now()
			err := operation(running, i)
			took[i] = time.Since(began)
			return err
		})
	}
	return took, cmp.Or(group.Wait(), ctx.Err())
}
