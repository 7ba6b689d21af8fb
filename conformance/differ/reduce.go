package differ

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/conformance/drive"
	"github.com/kubecascade/kubecascade/conformance/model"
)

// Find generates operations from a seed, runs them, and reduces the first difference. It returns nil if there is none.
// Clean deletes the created objects.
func Find(ctx context.Context, c Config, seed uint64, count int) (*Finding, error) {
	ops := model.Generate(seed, count, model.Options{Confluent: true, Kinds: c.kinds()})
	d, err := Run(ctx, &c, ops)
	if d == nil || err != nil {
		return nil, err
	}
	f := &Finding{Seed: seed, Ops: ops[:d.Sent], Difference: d}
	return f, f.reduce(ctx, c)
}

// Finding is a difference, and the operations that show it.
type Finding struct {
	Seed       uint64
	Ops        []model.Op
	Difference *Difference
	// Repeated reports whether the operations showed the difference each time they were sent again.
	Repeated bool
	// Interrupted reports whether the time was too short to find that out, or to find the shortest list.
	Interrupted bool
	prefix      string
}

// Script returns the operations as shell commands for each of the servers.
func (f *Finding) Script() string { return drive.Script(f.prefix, f.Ops) }

const (
	// reduceFor is the maximum duration of the reduction.
	reduceFor = 5 * time.Minute
	// repeats is the number of times that a list must show a difference again.
	repeats = 2
	// cleanSoon is the time for the deletion of a run's objects; Clean deletes the objects that remain.
	cleanSoon = 500 * time.Millisecond
)

// reducer searches for a shorter list.
type reducer struct {
	Config
	ctx    context.Context
	prefix string
	// about is the kind of the difference; last is the latest one of this kind.
	about    string
	last     *Difference
	tries    int
	deadline time.Time
	failed   error
	// cleaning waits for the deletion of the last run's objects.
	cleaning sync.WaitGroup
}

// reduce searches for the shortest list that shows a difference of the same kind each time it is sent. If even the
// whole list does not, the list is not changed: the difference has another cause than the operations.
func (f *Finding) reduce(ctx context.Context, c Config) error {
	f.prefix = c.Prefix + "again-"
	c.Settle = cmp.Or(min(c.Settle, 2*time.Second), time.Second)
	progress := c.Progress
	c.Progress = nil
	r := &reducer{Config: c, ctx: ctx, prefix: c.Prefix, about: f.Difference.about, deadline: time.Now().Add(reduceFor)}
	defer r.cleaning.Wait()
	reports := Config{Progress: progress}
	reports.tell("a difference after %d operations; sending them again", len(f.Ops))
	defer func() { f.Interrupted = r.failed != nil || time.Now().After(r.deadline) }()
	if !r.shows(f.Ops) {
		return r.failed
	}
	f.Repeated, f.Difference = true, r.last
	f.Ops = model.Shrink(f.Ops, 400, func(ops []model.Op) bool {
		reports.tell("a difference after %d operations; try %d has %d", len(f.Ops), r.tries+1, len(ops))
		if !confluent(ops) || !r.shows(ops) {
			return false
		}
		f.Ops, f.Difference = ops, r.last
		return true
	})
	return r.failed
}

// shows reports whether the operations show a difference of the kind each time they are sent.
func (r *reducer) shows(ops []model.Op) bool {
	for range repeats {
		if r.failed != nil || time.Now().After(r.deadline) {
			return false
		}
		r.tries++
		c := r.Config
		c.Prefix = fmt.Sprintf("%sr%d-", r.prefix, r.tries)
		d, err := Run(r.ctx, &c, ops)
		r.Reference, r.Candidate, r.failed = c.Reference, c.Candidate, err
		r.cleaning.Wait() // only one deletion at a time
		r.cleaning.Go(func() { _, _ = sweep(r.ctx, c, cleanSoon) })
		if d == nil || d.about != r.about {
			return false
		}
		r.last = d
	}
	return true
}

// confluent reports whether Generate could have generated the list with the option Confluent.
func confluent(ops []model.Op) bool {
	s := model.State{}
	for _, op := range ops {
		if model.Overlaps(s, op.Resolve(s)) {
			return false
		}
		next, _, _ := model.Apply(s, op.Resolve(s))
		if !model.Confluent(next, 3) {
			return false
		}
		s, _ = model.Settle(next, model.First)
	}
	return true
}
