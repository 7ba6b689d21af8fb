package gc

import (
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// feed is the only path from the timeline to the graph. It reads the timeline first and the table of kinds second, so
// no event reaches the graph with a table that is older than the event: Kinds guarantees that its channel is closed
// before the timeline shows anything written under the newer table. A table that is newer than the event is correct: a
// deletion is decided by the present meaning of references, and its guards compare the present state of the store.
type feed struct {
	timeline Timeline
	kinds    Kinds
	watcher  *cache.Watcher
	// changed is closed when a table is available that is newer than the one returned last.
	changed <-chan struct{}
	// elsewhere are the kinds of other servers.
	elsewhere []graph.Kind
}

// whole returns the whole state and a table that is at least as new. next returns later events. Errors:
// cache.ErrExpired.
func (f *feed) whole() (table graph.Kinds, all []*cache.Snapshot, err error) {
	revision, all := f.timeline.Everything()
	if f.watcher, err = f.timeline.Timeline(revision); err != nil {
		return graph.Kinds{}, nil, err
	}
	return f.table(), all, nil
}

// table returns the newest table of kinds.
func (f *feed) table() graph.Kinds {
	table, changed := f.kinds.Kinds()
	f.changed = changed
	return graph.Kinds{Table: append(table, f.elsewhere...)}
}

// next returns the pending events, and the table that the graph gets before them; nil if the table has not changed. It
// never blocks. Errors: cache.ErrExpired.
func (f *feed) next() (table *graph.Kinds, events []*cache.Event, err error) {
	events, _, err = f.watcher.Poll()
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-f.changed:
		table = new(f.table())
	default:
	}
	return table, events, nil
}
