package storage

import (
	"context"
	"slices"
	"sync"
)

// inboxEvents is how many events an inbox holds before its writer has to wait; then etcd keeps
// the watch waiting, and reads from its database what it has missed. It is far more than etcd's own
// buffer of 128 revisions, which a busy moment overflows.
const inboxEvents = 1 << 14

// inbox gathers what a watch reports until its reader has time, so that many events become one
// batch. One goroutine puts, one takes.
type inbox struct {
	// ready and room each hold a token when there may be something to take, or room to put.
	ready, room chan struct{}

	mu sync.Mutex // guards the fields below
	// events follow those taken before; spare is what the last but one take returned.
	events, spare []Event
	// revision is the one that the timeline is complete up to; put drops events that are not newer.
	revision int64
	err      error
}

func newInbox(revision int64) *inbox {
	return &inbox{ready: make(chan struct{}, 1), room: make(chan struct{}, 1), revision: revision}
}

// put adds events in the order of their revisions, all of the last one's, or only moves the
// revision on if there are none. It waits for room unless ctx is done.
func (in *inbox) put(ctx context.Context, events []Event, revision int64) {
	for !in.add(events, revision) {
		select {
		case <-in.room:
		case <-ctx.Done():
			return
		}
	}
	signal(in.ready)
}

// add is put without waiting; false if there is no room.
func (in *inbox) add(events []Event, revision int64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.events) >= inboxEvents {
		return false
	}
	// A watch that etcd's client began again may repeat what it has reported.
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

// fail ends the inbox: the reader gets err with the events before it.
func (in *inbox) fail(err error) {
	in.mu.Lock()
	in.err = err
	in.mu.Unlock()
	signal(in.ready)
}

// take returns what has been put since the last take. The events are valid until the next.
func (in *inbox) take() (Batch, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	b := Batch{Events: in.events, Revision: in.revision}
	clear(in.spare) // so that it doesn't keep old values alive
	in.events, in.spare = in.spare[:0], in.events
	signal(in.room)
	return b, in.err
}

// signal leaves a token, if none is there.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
