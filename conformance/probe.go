package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// probes detect whether the parts of a cluster work.
var probes = []struct {
	need Need
	name string
	run  func(*T)
	note func(*Report) *string
}{
	{Collector, "collector", func(t *T) { t.sentinel(nil) }, func(r *Report) *string { return &r.Collector }},
	{Namespaces, "namespace controller", func(t *T) {
		ns := t.Namespace("probe")
		t.Delete(ns)
		t.Await(ns, Gone)
	}, func(r *Report) *string { return &r.Namespaces }},
	{Jobs, "Job controller", func(t *T) {
		t.Await(t.Make(Job, "probe"), HasCondition("Suspended"))
	}, func(r *Report) *string { return &r.Jobs }},
}

// probe starts to detect the parts that the cases need, and returns a function that waits for the result. If a part
// does not react, that is in the report, and the cases that need it get little time.
func (r *runner) probe(ctx context.Context, cases []Case, rep *Report) (wait func()) {
	var looking sync.WaitGroup
	for _, p := range probes {
		if !needs(cases, p.need) {
			continue
		}
		r.note(func(g *Progress) { g.Probing = append(slices.Clone(g.Probing), p.name) })
		looking.Go(func() {
			res := r.one(ctx, Case{Name: "probe", Run: p.run}, "probe-"+p.need.String(), min(r.Timeout, probeTimeout))
			if res.Outcome == Failed {
				*p.note(rep) = fmt.Sprintf("no %s seems to work: expected %s; seen: %s. Cases that need one have a timeout of %v.",
					p.name, res.Failure.Expected, res.Failure.Seen, min(r.Timeout, idleTimeout))
				r.lacks(p.need)
			}
			r.note(func(g *Progress) {
				g.Probing = slices.DeleteFunc(slices.Clone(g.Probing), func(n string) bool { return n == p.name })
			})
		})
	}
	return looking.Wait
}

// cut ends a running case.
type cut struct {
	needs Need
	end   context.CancelFunc
}

// begin adds a case to the running ones; end removes it.
func (r *runner) begin(t *T, n Need, end context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.idle = r.absent&Collector != 0
	c := cut{n, end}
	r.running[t] = c
	if r.absent&n != 0 {
		c.soon(t)
	}
}

func (r *runner) end(t *T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, t)
}

// lacks records that a part is absent.
func (r *runner) lacks(n Need) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.absent |= n
	for t, c := range r.running {
		if c.needs&n != 0 {
			c.soon(t)
		}
	}
}

// soon ends the case after the short time for cases that can't succeed.
func (c cut) soon(t *T) { time.AfterFunc(idleTimeout-time.Since(t.started), c.end) }

// tick reports the progress at intervals while nothing happens, until it is stopped.
func (r *runner) tick() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var ticking sync.WaitGroup
	ticking.Go(func() {
		for {
			r.note(func(*Progress) {})
			select {
			case <-time.After(tickEvery):
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		ticking.Wait()
	}
}

// tickEvery is the longest interval between two reports of the progress.
const tickEvery = time.Second
