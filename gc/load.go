package gc

import (
	"context"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage"
)

// load makes a new graph from the whole state. f then returns the later events.
func (c *Collector) load(ctx context.Context, f *feed) error {
	var first graph.Ticket
	if c.graph != nil {
		first = c.graph.Stats().NextTicket
	}
	c.graph = graph.New(graph.Config{Limit: c.config.Workers, Inert: []string{"events"}, FirstTicket: first}) // D-08
	table, all, err := f.whole()
	if err != nil {
		return err
	}
	c.step(ctx, table)
	for _, s := range all {
		for o := range s.Ascend("", "") {
			if o, ok := c.object(s.Collection(), o); ok {
				c.step(ctx, graph.Observed{Object: o})
			}
		}
	}
	c.step(ctx, graph.Loaded{})
	return nil
}

// object converts a stored object for the graph. It returns false for a value without a uid, which is no API object
// (allocation ranges, leases of masters).
func (c *Collector) object(collection string, o *storage.Object) (graph.Object, bool) {
	g := graph.Object{Key: c.key(collection, o.Key), Revision: o.Revision}
	if o.Err != nil {
		c.logBroken(g.Key, o)
		g.Flags = graph.Broken
		return g, true
	}
	delete(c.broken, g.Key)
	m := &o.Meta
	g.APIVersion, g.Kind, g.UID, g.Flags = m.APIVersion, m.Kind, m.UID, graph.FlagsOf(m.Deleting(), m.Finalizers)
	if len(m.Owners) > 0 {
		g.Owners = make([]graph.Owner, len(m.Owners))
		for i, r := range m.Owners {
			g.Owners[i] = graph.Owner{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID, Block: r.Block}
		}
	}
	return g, g.UID != ""
}

// key parses a full key. Names contain no slash.
func (c *Collector) key(collection, key string) graph.Key {
	rest := strings.TrimPrefix(key, c.config.Root+"/"+collection+"/")
	if namespace, name, ok := strings.Cut(rest, "/"); ok {
		return graph.Key{Collection: collection, Namespace: namespace, Name: name}
	}
	return graph.Key{Collection: collection, Name: rest}
}

// mostBroken is the maximum number of objects that can't be decoded and are logged by name.
const mostBroken = 1000

// logBroken logs that an object can't be decoded, once until it is removed or can be decoded.
func (c *Collector) logBroken(k graph.Key, o *storage.Object) {
	if _, logged := c.broken[k]; logged || len(c.broken) == mostBroken {
		return
	}
	c.broken[k] = struct{}{}
	c.config.Log.Warn("an object can't be decoded; the garbage collector doesn't know its owners and keeps it and "+
		"its dependents",
		"key", o.Key, "err", o.Err)
	if len(c.broken) == mostBroken {
		c.config.Log.Warn("further objects that can't be decoded are not logged", "named", mostBroken)
	}
}
