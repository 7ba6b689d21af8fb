package loopback

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// mostFollowed is the maximum number of collections of a Feed.
const mostFollowed = 8

// lateDelay is the maximum delay of changes of Late resources. Most writes to their collections are to objects that no
// controller needs, so not every write should wake the feed.
const lateDelay = 50 * time.Millisecond

// Feed is a controller's watch.
type Feed struct {
	Cache *cache.Cache
	// First is the collection whose state is sent before anything else.
	First string
	// Collections are the collections whose events are sent, at most mostFollowed; none means all, in the order of
	// revisions. Each has a watcher of its own, so that writes elsewhere don't wake the feed. Events of different
	// collections may arrive out of order.
	Collections []string
	// Quiet reports whether only events of the first collection matter now. While it returns true, no other event is
	// sent, and writes to other collections don't wake the feed. It is for feeds of all collections; nil means never.
	Quiet func() bool
	// rest is the pause after an event of a collection other than the first. During it, writes to such collections
	// don't wake the feed: their events are sent after it, or with the next event of the first collection. This saves
	// processor time for requests.
	rest time.Duration
	// Begin receives the state.
	Begin func(state iter.Seq[*storage.Object])
	// Each receives the later events. Its error ends the feed.
	Each func(e *cache.Event) error
}

// Follow calls Begin and then Each until ctx is done or Each fails; if it falls behind it starts again.
func (f Feed) Follow(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := f.once(ctx); !errors.Is(err, cache.ErrExpired) {
			return err
		}
	}
	return ctx.Err()
}

// once follows until it falls behind.
func (f Feed) once(ctx context.Context) error {
	select {
	case <-f.Cache.Ready():
	case <-ctx.Done():
		return ctx.Err()
	}
	snap, err := f.Cache.Snapshot(f.First, 0)
	if err != nil {
		return err
	}
	f.Begin(snap.Ascend("", ""))
	r := follower{Feed: f}
	if err := r.watch(snap.Revision()); err != nil {
		return err
	}
	loop := reconcile.FeedOf(ctx)
	for {
		sent, err := r.read()
		if err != nil {
			return err
		}
		if loop.IsAsked() {
			if sent {
				continue
			}
			loop.Sent()
		}
		if err := r.wait(ctx, loop); err != nil {
			return err
		}
	}
}

// follower reads the events of a feed, from its watchers in turn.
type follower struct {
	Feed
	watchers []*cache.Watcher
	// listening reports whether the feed is quiet, so that its only watcher is that of the first collection.
	listening bool
	// at is the revision of the last event that was sent while listening, and skip the number of events of the first
	// collection with that revision that were sent: a transaction of another program may have several.
	at   int64
	skip int
	// rested is the time from which writes to collections other than the first wake the feed again.
	rested time.Time
}

// watch begins to watch after the revision.
func (r *follower) watch(rev int64) (err error) {
	if r.listening = r.Quiet != nil && r.Quiet(); r.listening {
		r.at, r.skip = 0, 0
		return r.watchOnly(rev, r.First)
	}
	if len(r.Collections) > 0 {
		return r.watchOnly(rev, r.Collections...)
	}
	w, err := r.Cache.Timeline(rev)
	r.watchers = []*cache.Watcher{w}
	return err
}

func (r *follower) watchOnly(rev int64, collections ...string) error {
	r.watchers = make([]*cache.Watcher, len(collections))
	for i, c := range collections {
		var err error
		if r.watchers[i], err = r.Cache.Watch(c, rev); err != nil {
			return err
		}
	}
	return nil
}

// read sends the next events. sent is false if there was none.
func (r *follower) read() (sent bool, err error) {
	for i, w := range r.watchers {
		events, rev, err := w.Poll()
		if err != nil {
			return sent, err
		}
		sent = sent || len(events) > 0
		if i > 0 && len(events) > 0 && r.rest > 0 {
			r.rested = time.Now().Add(r.rest)
		}
		if r.Quiet != nil {
			return sent, r.send(events, rev)
		}
		for _, e := range events {
			if err := r.Each(e); err != nil {
				return sent, err
			}
		}
	}
	return sent, nil
}

// send sends events of the only watcher. If Quiet then has another result, send replaces the watcher. All events up to
// rev have been read.
func (r *follower) send(events []*cache.Event, rev int64) error {
	for _, e := range events {
		if !r.listening && r.skip > 0 && e.Revision == r.at && e.Collection == r.First {
			r.skip--
			continue
		}
		if e.Collection != r.First && r.Quiet() {
			continue
		}
		if err := r.Each(e); err != nil {
			return err
		}
		if !r.listening {
			continue
		}
		if e.Revision != r.at {
			r.at, r.skip = e.Revision, 0
		}
		r.skip++
		if !r.Quiet() {
			return r.watch(e.Revision - 1)
		}
	}
	if !r.listening && r.Quiet() {
		return r.watch(rev)
	}
	return nil
}

// wait returns when there is an event to poll, or when the loop requests a check for one.
func (r *follower) wait(ctx context.Context, loop reconcile.Feed) error {
	var c [mostFollowed]<-chan struct{}
	for i, w := range r.watchers {
		c[i] = w.Changed()
	}
	var rested <-chan time.Time
	if left := time.Until(r.rested); left > 0 {
		timer := time.NewTimer(left)
		defer timer.Stop()
		clear(c[1:])
		rested = timer.C
	}
	select {
	case <-c[0]:
	case <-c[1]:
	case <-c[2]:
	case <-c[3]:
	case <-c[4]:
	case <-c[5]:
	case <-c[6]:
	case <-c[7]:
	case <-rested:
	case answer := <-loop.Asks():
		loop.Note(answer)
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
