package storage

import (
	"context"
	"time"
)

// Record is one stored value.
type Record struct {
	// Key is the full key, prefix included: /registry/pods/default/a.
	Key string
	// Value is the stored encoding; it must not be modified.
	Value []byte
	// ModRevision is the revision of the write that stored Value; 0 means absent.
	ModRevision int64
	// Sealed describes the encryption of the value; without encryption it is the zero value.
	Sealed
}

// Sealed describes the encryption of a stored value.
type Sealed struct {
	// Err is the reason why the value can't be decrypted; the value is then as it is stored.
	Err error
	// Stale reports whether a write of the same value would store other bytes, for example with another encryption key.
	Stale bool
}

// Guard is a condition on a key that a commit does not write: the mod revision that it must have (0: it must not
// exist).
type Guard struct {
	Key         string
	ModRevision int64
	// Below makes Key a prefix, which ends with a slash: no key that starts with it may have been written after
	// ModRevision. Deletions don't count.
	Below bool
	// Held is a weaker condition: Key may have been updated or deleted since ModRevision; only a creation since then is
	// a conflict. Below must not be set.
	Held bool
}

// Txn is one conditional write: one put (Value set) or one delete (Value nil). Deleting an absent key writes nothing,
// and returns the current revision.
type Txn struct {
	Key string
	// Expect is the mod revision that Key must have; 0: Key must not exist.
	Expect int64
	Guards []Guard
	Value  []byte
	// TTL is the time after which etcd deletes the key, rounded up to seconds, unless it is written again before; it
	// may take seconds longer. 0 means no expiry. A delete of a key that was put with a TTL sets it, too.
	TTL time.Duration
}

// Page is a part of a range.
type Page struct {
	// Records are in byte order of their keys.
	Records []Record
	// Revision is the revision of the page.
	Revision int64
	// More reports whether keys after the last record remain; Remaining is their number.
	More      bool
	Remaining int64
}

// Range selects the records under a prefix.
type Range struct {
	// Prefix ends with a slash. It may also be a full key, which selects that key and all that begin with it.
	Prefix string
	// From, if set, excludes the keys before it; it is a full key.
	From string
	// End, if set, excludes itself and the keys after it; it is a full key. Page.Remaining counts only the keys before
	// it, as counting is most of the cost of reading a small part of a large range.
	End string
	// Limit bounds the number of records; 0 means no bound.
	Limit int64
	// Revision reads at that revision; 0 reads the newest.
	Revision int64
}

// Store is the program's interface to etcd. Its methods may be called from any goroutine. When a context is done they
// return an error that matches both ErrUnavailable and the context's error; Follow returns the context's error alone.
type Store interface {
	// Get returns the record under key, or ErrNotFound. Linearizable.
	Get(ctx context.Context, key string) (Record, error)
	// List returns a range. Linearizable if Range.Revision is 0. Errors: ErrCompacted, ErrFuture.
	List(ctx context.Context, r Range) (Page, error)
	// Commit carries out one transaction and returns its revision. Errors: *ConflictError,
	// ErrTooLarge, ErrNoSpace, ErrReadOnly, ErrUnavailable (it may have been carried out).
	Commit(ctx context.Context, t Txn) (int64, error)
	// Revision returns a revision at least as new as every write that any client had acknowledged before the call.
	Revision(ctx context.Context) (int64, error)
	// Compact deletes the history before rev; it is no error if that is already compacted. Errors: ErrFuture.
	Compact(ctx context.Context, rev int64) error
	// Follow calls sink with the timeline until ctx is done or sink returns an error, which it returns. sink is called
	// from one goroutine. It must not keep the batch's slices, but may keep the values, which must not be modified.
	Follow(ctx context.Context, sink func(Batch) error) error
}

// Event is one change of one key.
type Event struct {
	Key string
	// Value is the new stored value; nil if the key was removed.
	Value []byte
	// Revision is the revision of the write.
	Revision int64
	// Sealed is as in Record.
	Sealed
}

// Batch is a part of the timeline.
type Batch struct {
	// Reset reports whether Events are the whole state at Revision (each with the mod revision it was
	// written at, in key order), not changes. The first batch is one.
	Reset  bool
	Events []Event
	// Revision is the revision up to which the timeline is complete after this batch, at least that of the last event.
	// A batch without events only advances it.
	Revision int64
	// Decoded has the object of each event, by the event's index, or nil if the event must be decoded. Follow does not
	// set it.
	Decoded []*Object
	// Cut reports whether history begins with this batch: no reader may resume from a state before it. Follow never
	// delivers one.
	Cut bool
}
