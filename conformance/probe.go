package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// part is a part of a cluster that some cases need.
type part struct {
	need Need
	name string
	// probe fails if the part does not work.
	probe func(*T)
	// note is the field of the report for the reason why the part does not work.
	note *string
	// absent is canceled, by markAbsent, when probe has failed.
	absent     context.Context
	markAbsent context.CancelFunc
}

// parts returns the parts that are probed. Each has its note in the report.
func parts(rep *Report) []*part {
	all := []*part{
		{need: Collector, name: "collector", note: &rep.Collector, probe: func(t *T) { t.sentinel(nil) }},
		{need: Namespaces, name: "namespace controller", note: &rep.Namespaces, probe: func(t *T) {
			ns := t.Namespace("probe")
			t.Delete(ns)
			t.Await(ns, Gone)
		}},
		{need: Jobs, name: "Job controller", note: &rep.Jobs, probe: func(t *T) {
			t.Await(t.Make(Job, "probe"), HasCondition("Suspended"))
		}},
	}
	for _, p := range all {
		p.absent, p.markAbsent = context.WithCancel(context.Background())
	}
	return all
}

// lacks reports whether the probe of a part has failed.
func (r *runner) lacks(n Need) bool {
	return slices.ContainsFunc(r.parts, func(p *part) bool { return p.need == n && p.absent.Err() != nil })
}

// probe starts to probe the parts that the cases need, and returns a function that waits for the results. If a part
// does not work, the report has the reason, and the cases that need the part have a short timeout.
func (r *runner) probe(ctx context.Context, cases []Case) (wait func()) {
	var looking sync.WaitGroup
	for _, p := range r.parts {
		if !slices.ContainsFunc(cases, func(c Case) bool { return c.Needs&p.need != 0 }) {
			continue
		}
		r.note(func(g *Progress) { g.Probing = append(slices.Clone(g.Probing), p.name) })
		looking.Go(func() {
			res := r.one(ctx, Case{Name: "probe", Run: p.probe}, "probe-"+p.need.String(), min(r.Timeout, probeTimeout))
			if res.Outcome == Failed {
				*p.note = fmt.Sprintf("no %s seems to work: expected %s; seen: %s. Cases that need one have a timeout of %v.",
					p.name, res.Failure.Expected, res.Failure.Seen, min(r.Timeout, idleTimeout))
				p.markAbsent()
			}
			r.note(func(g *Progress) {
				g.Probing = slices.DeleteFunc(slices.Clone(g.Probing), func(n string) bool { return n == p.name })
			})
		})
	}
	return looking.Wait
}

// tick reports the progress every tickEvery, until it is stopped.
func (r *runner) tick() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var ticking sync.WaitGroup
	ticking.Go(func() {
		wait.UntilWithContext(ctx, func(context.Context) { r.note(func(*Progress) {}) }, tickEvery)
	})
	return func() {
		cancel()
		ticking.Wait()
	}
}

// tickEvery is the longest interval between two reports of the progress.
const tickEvery = time.Second
