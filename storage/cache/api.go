package cache

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/kubecascade/kubecascade/storage"
)

// Sentinel errors. Test with errors.Is.
var (
	// ErrExpired reports that the requested history is not in the cache: it was dropped, or is older than the process.
	ErrExpired = errors.New("cache: history expired")
	// ErrMalformed reports that a batch breaks a guarantee of storage.Store.Follow; no part of it was applied.
	ErrMalformed = errors.New("cache: malformed batch")
)

// ExpiredError is the type of the returned ErrExpired. It has the revisions for a client's error message (H-30).
type ExpiredError struct {
	// Revision is the requested revision; for a watcher that fell behind, the revision up to which it had read.
	Revision int64
	// Oldest is the oldest available revision; 0 before the first batch.
	Oldest int64
}

// Error names both revisions.
func (e *ExpiredError) Error() string {
	return fmt.Sprintf("cache: history after revision %d expired, the oldest is %d", e.Revision, e.Oldest)
}

// Is makes errors.Is(err, ErrExpired) hold, and errors.Is(err, storage.ErrCompacted).
func (e *ExpiredError) Is(target error) bool {
	return target == ErrExpired || target == storage.ErrCompacted
}

// Type is the type of an event.
type Type uint8

// The types of events.
const (
	Added Type = iota
	Modified
	Deleted
)

// String returns the type in the spelling of Kubernetes' watch events (H-25).
func (t Type) String() string { return [...]string{"ADDED", "MODIFIED", "DELETED"}[t] }

// Event is one change of one object. It is immutable.
type Event struct {
	Type Type
	// Collection is the collection's name, a result of storage.Collection.
	Collection string
	// Object is the new state; for Deleted the last state, with the revision of the deletion as its resourceVersion.
	Object *storage.Object
	// Prev is the state before; nil for Added.
	Prev *storage.Object
	// Revision is the revision of the change.
	Revision int64
}

// held returns the number of bytes of JSON that only the event keeps in memory: those of the previous state and, for a
// deletion, those of Object, which is in no tree.
func (e *Event) held() int64 {
	var n int64
	if e.Prev != nil {
		n = int64(len(e.Prev.JSON))
	}
	if e.Type == Deleted {
		n += int64(len(e.Object.JSON))
	}
	return n
}

// Options configure the cache. Zero values mean the defaults.
type Options struct {
	// Decoder turns values into objects; its Root is required.
	Decoder storage.Decoder
	// Events and Bytes limit the history of one collection (defaults 16384 events, 64 MiB of JSON).
	Events int
	Bytes  int64
	// TimelineEvents and TimelineBytes limit the history of all collections together (defaults 65536 events, 80 MiB of
	// JSON). Beyond them, the collection with the largest history loses events.
	TimelineEvents int
	TimelineBytes  int64
	// EncodingBytes limits the encodings that are kept (default 64 MiB).
	EncodingBytes int64
}

func (o Options) withDefaults() Options {
	o.Events, o.Bytes = cmp.Or(o.Events, 16384), cmp.Or(o.Bytes, 64<<20)
	o.TimelineEvents, o.TimelineBytes = cmp.Or(o.TimelineEvents, 65536), cmp.Or(o.TimelineBytes, 80<<20)
	o.EncodingBytes = cmp.Or(o.EncodingBytes, 64<<20)
	return o
}
