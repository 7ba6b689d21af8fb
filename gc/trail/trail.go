package trail

import (
	"fmt"
	"sync"
	"time"
)

// The limits of a Trail (doc.go).
const (
	Removals    = 100_000
	Terminating = 100_000
	mostBytes   = 64 << 20
)

// chunk is how many removals are allocated together.
const chunk = 1024

// Trail remembers removals. Its methods may be called from any goroutine.
type Trail struct {
	// limit and bytes limit each part.
	limit, bytes int

	mu sync.Mutex // guards what follows
	// since is when it began to remember.
	since time.Time
	// chunks have the removals of the numbers from first up to next; that of number n is at n modulo limit.
	chunks      [][]entry
	first, next uint64
	// slots are the numbers modulo limit by uid, and weight is the sum of their weights.
	slots  map[uid]uint32
	weight int
	marks  marks
	// follows says that Seen has been called.
	follows bool
}

// New returns an empty Trail; since is the time of Answer.Since.
func New(since time.Time) *Trail { return newTrail(since, Removals, mostBytes) }

func newTrail(since time.Time, limit, bytes int) *Trail {
	return &Trail{since: since, limit: limit, bytes: bytes}
}

// Reset forgets everything, at the time of a rollback: what was removed may exist again.
func (t *Trail) Reset(since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since, t.chunks, t.first, t.next = since, nil, 0, 0
	t.slots, t.weight, t.marks = nil, 0, marks{}
}

// Marked records that the object's deletion began: its deletionTimestamp was set at the revision. finalizers are those
// that it then has. by is nil if the request is not known.
func (t *Trail) Marked(s *Subject, revision int64, at time.Time, finalizers []string, by *By) {
	if t == nil || s.UID == "" {
		return
	}
	e := newEntry(s)
	e.marked, e.markedAt, e.asked, e.finalizers = revision, at.UnixMilli(), by, joined(finalizers)
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.byUID(e.uid); old != nil { // another request has removed it before this one is recorded
		if old.marked == 0 && old.asked == nil && old.removed > revision {
			t.weight -= old.weight()
			old.marked, old.markedAt, old.asked, old.finalizers = e.marked, e.markedAt, e.asked, e.finalizers
			t.weight += old.weight()
			return
		}
	}
	t.marks.add(&mark{entry: e}, t.limit, t.bytes)
}

// Removed records that the request removed the object at the revision. finalizers are those that the request removed
// together with the object.
func (t *Trail) Removed(s *Subject, revision int64, at time.Time, finalizers []string, by *By) {
	if t == nil {
		return
	}
	e := newEntry(s)
	e.removed, e.removedAt, e.lastOf = revision, at.UnixMilli(), joined(finalizers)
	e.finished = by
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.elsewhere(e.uid, revision); old != nil {
		t.weight -= old.weight()
		old.finished, old.lastOf, old.elsewhere = by, e.lastOf, false
		if old.marked == 0 && !s.Terminating {
			old.asked = by
		}
		t.weight += old.weight()
		return
	}
	if m := t.marks.take(e.uid); m != nil {
		e.marked, e.markedAt, e.asked, e.finalizers = m.marked, m.markedAt, m.asked, m.finalizers
	} else if !s.Terminating {
		e.asked = by
	}
	t.add(e)
}

// elsewhere returns what Seen, which was called first, has recorded of the removal.
func (t *Trail) elsewhere(u uid, revision int64) *entry {
	if t.follows {
		if old := t.byUID(u); old != nil && old.elsewhere && old.removed == revision {
			return old
		}
	}
	return nil
}

// Seen records that the object was removed at the revision, by whatever request. It does nothing if Removed was told of
// it.
func (t *Trail) Seen(s *Subject, revision int64, at time.Time) {
	if t == nil || s.UID == "" {
		return
	}
	e := newEntry(s)
	e.removed, e.removedAt, e.elsewhere = revision, at.UnixMilli(), true
	t.mu.Lock()
	defer t.mu.Unlock()
	t.follows = true
	if old := t.byUID(e.uid); old != nil && old.removed == revision {
		return
	}
	if m := t.marks.take(e.uid); m != nil {
		e.marked, e.markedAt, e.asked, e.finalizers = m.marked, m.markedAt, m.asked, m.finalizers
	}
	t.add(e)
}

func (t *Trail) at(n uint64) *entry {
	i := int(n % uint64(t.limit))
	return &t.chunks[i/chunk][i%chunk]
}

// byUID returns the removal of the uid, nil if there is none.
func (t *Trail) byUID(u uid) *entry {
	if slot, ok := t.slots[u]; ok && u != (uid{}) {
		return t.at(uint64(slot))
	}
	return nil
}

// add adds a removal, and forgets the oldest ones that are too many.
func (t *Trail) add(e entry) {
	w := e.weight()
	for t.next-t.first >= uint64(t.limit) || t.next > t.first && t.weight+w > t.bytes {
		t.forget()
	}
	if i := int(t.next % uint64(t.limit)); i/chunk == len(t.chunks) {
		t.chunks = append(t.chunks, make([]entry, chunk))
	}
	*t.at(t.next) = e
	t.weight += w
	if e.uid != (uid{}) {
		if t.slots == nil {
			t.slots = map[uid]uint32{}
		}
		t.slots[e.uid] = uint32(t.next % uint64(t.limit))
	}
	t.next++
}

// forget forgets the oldest removal.
func (t *Trail) forget() {
	e := t.at(t.first)
	t.weight -= e.weight()
	if t.byUID(e.uid) == e { // a later object may have the uid
		delete(t.slots, e.uid)
	}
	*e = entry{}
	t.first++
}

// Answer returns an answer without items.
func (t *Trail) Answer() Answer {
	a := Answer{APIVersion: APIVersion, Kind: "Trail", Items: []*Removal{}}
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		a.Since, a.Kept, a.Removals, a.Limit = t.since.UTC(), int(t.next-t.first), int64(t.next), t.limit
	}
	return a
}

// NotKnown is the message of the response 404 to a query that finds nothing.
func (a Answer) NotKnown() string {
	return fmt.Sprintf("no removal of such an object is known, or you may not list it: this server keeps only the last "+
		"%d removals since it started at %s, of which there were %d", a.Limit, a.Since.Format(time.RFC3339), a.Removals)
}
