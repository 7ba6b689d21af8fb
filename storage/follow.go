package storage

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// pageLocal and pageRemote are the page sizes of the initial list. A page of the largest objects of an external
	// cluster must fit into one message (2 GiB). For each page etcd counts all keys after it. So pages of the embedded
	// etcd, which are not sent, are larger.
	pageLocal, pageRemote = 10000, 1000
	// progressGrace is the time that a follower waits for events before it requests the watch's progress.
	// progressRepeat is the interval of further requests: etcd does not respond while the watch is behind.
	progressGrace, progressRepeat = 3 * time.Millisecond, 50 * time.Millisecond
	// retryFirst and retryMost are the minimum and maximum pause before a broken watch is restarted.
	retryFirst, retryMost = 50 * time.Millisecond, 2 * time.Second
)

// followers has all calls of Follow.
type followers struct {
	all sync.Map // its keys are *follower
	// required is the greatest revision that Revision has returned. Followers must reach it.
	required atomic.Int64
}

// follower is one call of Follow. Its fields belong to its goroutine, except reached and behind.
type follower struct {
	etcd *Etcd
	sink func(Batch) error
	// reached is the revision up to which sink has received the timeline; 0 before the first batch.
	reached atomic.Int64
	// behind signals to the follower that it must reach a greater revision.
	behind chan struct{}
}

// sinkError marks an error as the sink's, which ends Follow.
type sinkError struct{ error }

// Follow implements Store.
func (e *Etcd) Follow(ctx context.Context, sink func(Batch) error) error {
	if err := e.beginRequest(context.Background()); err != nil {
		return err
	}
	e.work.Add(1)
	e.endRequest()
	defer e.work.Done()
	f := &follower{etcd: e, sink: sink, behind: make(chan struct{}, 1)}
	e.followers.all.Store(f, nil)
	defer e.followers.all.Delete(f)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	pause := retryFirst
	for {
		before := f.reached.Load()
		err := f.step(ctx)
		var failed sinkError
		switch {
		case errors.As(err, &failed):
			if e.external != nil && errors.Is(failed.error, ErrSetBack) {
				e.end(failed.error)
			}
			return failed.error
		case e.life.Err() != nil:
			return context.Cause(e.life)
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrCompacted):
			e.log.Info("the revision of the watch is compacted; listing all objects again", "revision", before)
			f.reached.Store(0)
			continue
		}
		e.log.Warn("etcd watch was interrupted", "revision", before, "error", err)
		if f.reached.Load() > before {
			pause = retryFirst
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, retryMost)
		case <-ctx.Done():
		}
	}
}

// step watches until an error. If the whole state is needed, step reads it after the watch has begun. In the other
// order, etcd would have to send the events in between, which may take 100 ms.
func (f *follower) step(ctx context.Context) error {
	now, err := f.etcd.readRevision(ctx) // detects a cluster that was restored to an earlier state
	if err != nil {
		return err
	}
	after := cmp.Or(f.reached.Load(), now)
	w, err := f.etcd.openWatch(ctx, after)
	if err != nil {
		return err
	}
	defer w.close()
	if f.reached.Load() == 0 {
		if err := f.reset(ctx); err != nil {
			return err
		}
	}
	return f.watch(ctx, w)
}

// reset delivers the whole state at one revision, that of the first page.
func (f *follower) reset(ctx context.Context) error {
	e := f.etcd
	r := Range{Prefix: e.root + "/", Limit: pageRemote}
	if e.local != nil {
		r.Limit = pageLocal
	}
	b := Batch{Reset: true}
	for {
		p, err := e.List(ctx, r)
		if err != nil {
			return err
		}
		if b.Events == nil {
			b.Events = make([]Event, 0, int64(len(p.Records))+p.Remaining)
		}
		for _, rec := range p.Records {
			b.Events = append(b.Events, rec.event())
		}
		b.Revision = p.Revision
		if !p.More {
			return f.deliver(b)
		}
		r.Revision, r.From = p.Revision, p.Records[len(p.Records)-1].Key+"\x00"
	}
}

// deliver passes the batch to sink if it is a reset, or newer than reached.
func (f *follower) deliver(b Batch) error {
	if !b.Reset && b.Revision <= f.reached.Load() {
		return nil
	}
	if err := f.sink(b); err != nil {
		return sinkError{err}
	}
	f.reached.Store(b.Revision)
	return nil
}

// watch delivers the reports of the watch, until an error.
func (f *follower) watch(ctx context.Context, w *watch) error {
	timer := time.NewTimer(progressGrace)
	defer timer.Stop()
	waiting := true // the timer is running; at first, the previous watch may not have reached all revisions
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case r, open := <-w.reports:
			b, err := w.take(r, open, f.reached.Load())
			if f.etcd.external != nil {
				raise(&f.etcd.external.seen, b.Revision)
			}
			if derr := f.deliver(b); derr != nil {
				return derr
			}
			if err != nil {
				return err
			}
		case <-f.behind:
			if !waiting {
				timer.Reset(progressGrace)
				waiting = true
			}
		case <-timer.C:
			if waiting = f.reached.Load() < f.etcd.followers.required.Load(); waiting {
				w.progress()
				timer.Reset(progressRepeat)
			}
		}
	}
}

// require makes the followers reach the revision. A revision of a key below the root arrives with its event. For a
// revision of another key, in a shared cluster, the followers must request the watch's progress.
func (a *followers) require(rev int64) {
	raise(&a.required, rev)
	for f := range a.all.Range {
		if f := f.(*follower); f.reached.Load() < rev {
			select {
			case f.behind <- struct{}{}:
			default:
			}
		}
	}
}

// raise sets the revision to rev if rev is greater.
func raise(revision *atomic.Int64, rev int64) {
	for old := revision.Load(); old < rev && !revision.CompareAndSwap(old, rev); old = revision.Load() {
	}
}
