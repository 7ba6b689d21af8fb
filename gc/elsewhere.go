package gc

import (
	"context"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// look returns a channel for those of the owners of kinds that are not served here that do not exist on other servers;
// nil if there is nothing to look for. Upstream's collector watches the objects of all servers (GC/garbagecollector.go:
// Sync); here they are not in the timeline, and are read while something depends on them.
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
