package storage

import (
	"context"
	"time"
)

// Record is one stored value.
type Record struct {
	// Key is the full key, prefix included: /registry/pods/default/a.
	Key string
	// Value is the stored encoding; nobody may change its bytes.
	Value []byte
	// ModRevision is the revision of the write that stored Value; 0 means absent.
	ModRevision int64
}

// Guard is a key that a commit reads but doesn't write, with the mod revision it must have
// (0: it must not exist).
type Guard struct {
	Key         string
	ModRevision int64
	// Below makes Key a prefix, which ends with a slash: no key that starts with it may have been
	// written after ModRevision. Removals don't count.
	Below bool
	// Held asks less: Key may hold what it held at ModRevision in a later state, too, or nothing;
	// only something that was created there since is a conflict. It excludes Below.
	Held bool
}

// Txn is one conditional write: one put (Value set) or one delete (Value nil). To delete what
// isn't there writes nothing, and its revision is the present one.
type Txn struct {
	Key string
	// Expect is the mod revision that Key must have; 0: Key must not exist.
	Expect int64
	Guards []Guard
	Value  []byte
	// TTL removes the key after that time, in whole seconds, rounded up, or seconds later, unless it
	// is written again before; 0 keeps it.
	// A delete of a key that was put with a TTL says so too.
	TTL time.Duration
}

// Page is a part of a range.
type Page struct {
	// Records are in byte order of their keys.
	Records []Record
	// Revision is the one that the page shows.
	Revision int64
	// More says that keys after the last record remain; Remaining is how many.
	More      bool
	Remaining int64
}

// Range asks for the records under a prefix.
type Range struct {
	// Prefix ends with a slash, or is a full key, for that key and those that continue it.
	Prefix string
	// From skips keys before it, if set; it is a full key.
	From string
	// End, if set, skips it and the keys after it; it is a full key. Remaining counts the keys before it only, and to
	// count is most of what a small part of a large range costs.
	End string
	// Limit bounds the number of records; 0 means no bound.
	Limit int64
	// Revision reads at that revision; 0 reads the newest.
	Revision int64
}

// Store is etcd as the rest of the program sees it. Its methods may be called from any goroutine.
// When a context is done they return an error that matches both ErrUnavailable and the context's;
// Follow the context's alone.
type Store interface {
	// Get returns the record under key, or ErrNotFound. Linearizable.
	Get(ctx context.Context, key string) (Record, error)
	// List returns a range. Linearizable if no revision is asked for. Errors: ErrCompacted, ErrFuture.
	List(ctx context.Context, r Range) (Page, error)
	// Commit carries out one transaction and returns its revision. Errors: *ConflictError,
	// ErrTooLarge, ErrNoSpace, ErrUnavailable (it may have been carried out).
	Commit(ctx context.Context, t Txn) (int64, error)
	// Revision returns a revision at least as new as every write acknowledged, by anyone, before
	// the call.
	Revision(ctx context.Context) (int64, error)
	// Compact forgets history before rev; it is no error if that is forgotten. Errors: ErrFuture.
	Compact(ctx context.Context, rev int64) error
	// Follow calls sink with the timeline until ctx is done or sink returns an error, which it
	// returns. sink is called from one goroutine; it must not keep the batch's slices, but may keep
	// values, whose bytes nobody may change.
	Follow(ctx context.Context, sink func(Batch) error) error
}

// Event is one change of one key.
type Event struct {
	Key string
	// Value is the new stored value; nil if the key was removed.
	Value []byte
	// Revision is that of the write.
	Revision int64
}

// Batch is a piece of the timeline.
type Batch struct {
	// Reset says that Events are the whole state at Revision (each with the mod revision it was
	// written at, in key order), not changes. The first batch is one.
	Reset  bool
	Events []Event
	// Revision up to which the timeline is complete after this batch, at least that of the last
	// event. A batch without events only moves it on.
	Revision int64
}
