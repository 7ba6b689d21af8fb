package storage

import (
	"context"
	"slices"
	"sync"
)

// inboxEvents is how many events an inbox holds before its writer must wait. Then etcd holds the watch back, and later
// reads the missed events from its database. It is far more than etcd's own buffer of 128 revisions, which a busy
// moment overflows.
const inboxEvents = 1 << 14

// inbox collects the events of a watch until its reader takes them, so that many events become one batch. One goroutine
// puts, another takes.
type inbox struct {
	// ready and space each hold a token when there may be events to take, or space to put.
	ready, space chan struct{}

	mu sync.Mutex // guards the fields below
	// events are those since the last take; spare is the slice that the take before the last returned.
	events, spare []Event
	// revision is the revision up to which the timeline is complete; put drops events that are not newer.
	revision int64
	err      error
}

func newInbox(revision int64) *inbox {
	return &inbox{ready: make(chan struct{}, 1), space: make(chan struct{}, 1), revision: revision}
}

// put adds events in the order of their revisions, with all events of the last revision, or only advances the revision
// if there are none. It waits for space unless ctx is done.
func (in *inbox) put(ctx context.Context, events []Event, revision int64) {
	for !in.add(events, revision) {
		select {
		case <-in.space:
		case <-ctx.Done():
			return
		}
	}
	signal(in.ready)
}

// add is put without waiting; false if there is no space.
func (in *inbox) add(events []Event, revision int64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.events) >= inboxEvents {
		return false
	}
	// A watch that etcd's client has restarted may repeat events.
	seen := in.revision
	for _, ev := range events {
		if ev.Revision > seen {
			in.events = append(in.events, ev)
			in.revision = ev.Revision
		}
	}
	in.revision = max(in.revision, revision)
	return true
}

// skip drops events up to the revision.
func (in *inbox) skip(revision int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.events = slices.DeleteFunc(in.events, func(ev Event) bool { return ev.Revision <= revision })
	in.revision = max(in.revision, revision)
}

// fail ends the inbox: the reader gets err after the events before it.
func (in *inbox) fail(err error) {
	in.mu.Lock()
	in.err = err
	in.mu.Unlock()
	signal(in.ready)
}

// take returns the events since the last take. They are valid until the next one.
func (in *inbox) take() (Batch, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	b := Batch{Events: in.events, Revision: in.revision}
	clear(in.spare) // so that it doesn't keep old values alive
	in.events, in.spare = in.spare[:0], in.events
	signal(in.space)
	return b, in.err
}

// signal puts a token into the channel, if there is none.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
