package gc

import (
	"context"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// look starts a look-up, on other servers, of the owners whose kinds are not served here. It returns a channel for the
// owners that do not exist; nil if there is nothing to look up. Upstream's collector watches the objects of all servers
// (GC/garbagecollector.go: Sync); here they are not in the timeline, and are read while something depends on them.
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
