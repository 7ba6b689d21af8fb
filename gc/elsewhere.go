package gc

import (
	"context"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// followOthers makes the goroutine of Run read the events of other servers until ctx is done.
func (c *Collector) followOthers(ctx context.Context, f *feed) {
	if c.config.Follow == nil {
		return
	}
	c.looks.Go(func() {
		c.config.Follow(ctx, func(e graph.Event) {
			select {
			case c.asks <- func(context.Context) { c.readOther(ctx, f, e) }:
			case <-ctx.Done():
			}
		})
	})
}

// readOther processes an event of another server, after all pending events of the timeline: these include the owners
// that an object named when it was read. If history has expired, everything is loaded again.
func (c *Collector) readOther(ctx context.Context, f *feed, e graph.Event) {
	if ctx.Err() != nil { // f is that of an earlier graph
		return
	}
	for pending := true; pending; {
		select {
		case <-f.watcher.Changed():
			if c.read(ctx, f) != nil {
				return
			}
		default:
			pending = false
		}
	}
	if k, ok := e.(graph.Kinds); ok {
		f.elsewhere = k.Table
		e = f.table()
	}
	c.step(ctx, e)
}

// look starts a look-up of the owners that only other servers may have. It returns a channel for the owners that do not
// exist; nil if there is nothing to look up. As in upstream, only the response to a request shows that an owner that
// was never seen does not exist (GC/garbagecollector.go: isDangling).
func (c *Collector) look(ctx context.Context) <-chan []graph.Elsewhere {
	if c.config.Elsewhere == nil {
		return nil
	}
	owners := c.graph.Elsewhere()
	if len(owners) == 0 {
		return nil
	}
	absent := make(chan []graph.Elsewhere, 1)
	c.looks.Go(func() { absent <- c.config.Elsewhere(ctx, owners) })
	return absent
}
