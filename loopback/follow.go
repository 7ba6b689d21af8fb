package loopback

import (
	"context"
	"errors"
	"iter"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// mostFollowed is the maximum number of collections of a feed.
const mostFollowed = 8

// feed is a controller's watch.
type feed struct {
	cache *cache.Cache
	// first is the collection whose state is sent before anything else.
	first string
	// collections are those whose events are sent, at most mostFollowed; none means all, in the order of their
	// revisions. Each has a watcher of its own, so that writes elsewhere wake none; the order between collections may
	// change.
	collections []string
	// begin receives the state.
	begin func(state iter.Seq[*storage.Object])
	// each receives the later events. Its error ends the feed.
	each func(e *cache.Event) error
}

// follow calls begin and then each until ctx is done or each fails; if it falls behind it starts again.
func (f feed) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := f.once(ctx); !errors.Is(err, cache.ErrExpired) {
			return err
		}
	}
	return ctx.Err()
}

// once follows until it falls behind.
func (f feed) once(ctx context.Context) error {
	select {
	case <-f.cache.Ready():
	case <-ctx.Done():
		return ctx.Err()
	}
	snap, err := f.cache.Snapshot(f.first, 0)
	if err != nil {
		return err
	}
	watchers, err := f.watch(snap.Revision())
	if err != nil {
		return err
	}
	f.begin(func(yield func(*storage.Object) bool) { snap.Ascend("", "", yield) })
	loop := reconcile.FeedOf(ctx)
	for {
		sent := 0
		for _, w := range watchers {
			events, _, err := w.Poll()
			if err != nil {
				return err
			}
			sent += len(events)
			for _, e := range events {
				if err := f.each(e); err != nil {
					return err
				}
			}
		}
		if loop.IsAsked() {
			if sent > 0 {
				continue
			}
			loop.Sent()
		}
		if err := waitFor(ctx, watchers, loop); err != nil {
			return err
		}
	}
}

// watch returns the watchers of the collections.
func (f feed) watch(rev int64) ([]*cache.Watcher, error) {
	if len(f.collections) == 0 {
		w, err := f.cache.Timeline(rev)
		return []*cache.Watcher{w}, err
	}
	watchers := make([]*cache.Watcher, len(f.collections))
	for i, c := range f.collections {
		var err error
		if watchers[i], err = f.cache.Watch(c, rev); err != nil {
			return nil, err
		}
	}
	return watchers, nil
}

// waitFor returns when there is an event to poll, or when the loop asks whether there is one.
func waitFor(ctx context.Context, watchers []*cache.Watcher, loop reconcile.Feed) error {
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
