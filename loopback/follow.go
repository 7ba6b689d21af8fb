package loopback

import (
	"context"
	"errors"
	"iter"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// mostFollowed is the maximum number of collections of a Feed.
const mostFollowed = 8

// Feed is a controller's watch.
type Feed struct {
	Cache *cache.Cache
	// First is the collection whose state is sent before anything else.
	First string
	// Collections are the collections whose events are sent, at most mostFollowed; none means all, in the order of
	// revisions. Each has a watcher of its own, so that writes elsewhere don't wake the feed. Events of different
	// collections may arrive out of order.
	Collections []string
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
	watchers, err := f.watch(snap.Revision())
	if err != nil {
		return err
	}
	loop := reconcile.FeedOf(ctx)
	for {
		sent, err := f.read(watchers)
		if err != nil {
			return err
		}
		if loop.IsAsked() {
			if sent {
				continue
			}
			loop.Sent()
		}
		if err := await(ctx, watchers, loop); err != nil {
			return err
		}
	}
}

// watch begins to watch after the revision.
func (f Feed) watch(rev int64) (watchers []*cache.Watcher, err error) {
	if len(f.Collections) == 0 {
		w, err := f.Cache.Timeline(rev)
		return []*cache.Watcher{w}, err
	}
	watchers = make([]*cache.Watcher, len(f.Collections))
	for i, c := range f.Collections {
		if watchers[i], err = f.Cache.Watch(c, rev); err != nil {
			return nil, err
		}
	}
	return watchers, nil
}

// read sends the next events of the watchers in turn. sent is false if there was none.
func (f Feed) read(watchers []*cache.Watcher) (sent bool, err error) {
	for _, w := range watchers {
		events, _, err := w.Poll()
		if err != nil {
			return sent, err
		}
		sent = sent || len(events) > 0
		for _, e := range events {
			if err := f.Each(e); err != nil {
				return sent, err
			}
		}
	}
	return sent, nil
}

// await returns when there is an event to poll, or when the loop requests a check for one.
func await(ctx context.Context, watchers []*cache.Watcher, loop reconcile.Feed) error {
	var c [mostFollowed]<-chan struct{}
	for i, w := range watchers {
		c[i] = w.Changed()
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
	case answer := <-loop.Asks():
		loop.Note(answer)
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
