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

// Trail records removals. Its methods may be called from any goroutine.
type Trail struct {
	mu sync.Mutex // guards the fields below
	// since is when it began to record, and all the number of removals since then.
	since             time.Time
	all               int64
	removed, deleting recent
}

// New returns an empty Trail; since is the time of Answer.Since.
func New(since time.Time) *Trail {
	return &Trail{since: since, removed: newRecent(Removals, mostBytes), deleting: newRecent(Terminating, mostBytes)}
}

// Reset forgets everything, at the time of a rollback: the removed objects may exist again.
func (t *Trail) Reset(since time.Time) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since, t.all = since, 0
	t.removed = newRecent(t.removed.limit, t.removed.bytes)
	t.deleting = newRecent(t.deleting.limit, t.deleting.bytes)
}

// Marked records that the object's deletion began: its deletionTimestamp was set at the revision. finalizers are those
// that it then has. by is nil if the request is not known. Only the first call for an object has an effect.
func (t *Trail) Marked(s *Subject, revision int64, at time.Time, finalizers []string, by *Request) {
	if t == nil || s.UID == "" {
		return
	}
	e := newEntry(s)
	e.begin(moment(revision, at), copiedList(finalizers), by)
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.removed.get(s.UID)
	if old != nil && old.Terminating == nil && old.Asked == nil && old.Removed.Revision > revision {
		old.begin(e.Terminating, e.Finalizers, by) // another request has removed it before this one is recorded
		t.removed.changed(old)
		return
	}
	if t.deleting.get(s.UID) == nil {
		t.deleting.add(e)
	}
}

// Removed records that the request removed the object at the revision. finalizers are those that the request removed
// together with the object.
func (t *Trail) Removed(s *Subject, revision int64, at time.Time, finalizers []string, by *Request) {
	if t == nil {
		return
	}
	e, last := newEntry(s), copiedList(finalizers)
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.removed.get(s.UID); old != nil && old.Elsewhere && old.Removed.Revision == revision { // Seen came first
		old.Elsewhere = false
		old.end(s, last, by)
		t.removed.changed(old)
		return
	}
	t.begun(e, revision, at)
	e.end(s, last, by)
	t.removed.add(e)
}

// Seen records that the object was removed at the revision, by an unknown request. It has no effect after Removed.
func (t *Trail) Seen(s *Subject, revision int64, at time.Time) {
	if t == nil || s.UID == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.removed.get(s.UID); old == nil || old.Removed.Revision != revision {
		e := newEntry(s)
		e.Elsewhere = true
		t.begun(e, revision, at)
		t.removed.add(e)
	}
}

// begun makes an entry that of a removal, with the request that began the deletion, if it is known.
func (t *Trail) begun(e *entry, revision int64, at time.Time) {
	e.Removed = moment(revision, at)
	if m := t.deleting.take(e.Object.UID); m != nil {
		e.begin(m.Terminating, m.Finalizers, m.Asked)
	}
	t.all++
}

// RemovedAt returns when the object with the uid was removed; zero if no removal is known.
func (t *Trail) RemovedAt(uid string) (at time.Time) {
	if t == nil {
		return at
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.removed.get(uid); e != nil {
		at = e.Removed.Time
	}
	return at
}

// Answer returns an answer without items.
func (t *Trail) Answer() Answer {
	a := Answer{APIVersion: APIVersion, Kind: "Trail", Items: []*Removal{}}
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		a.Since, a.Kept, a.Removals, a.Limit = t.since.UTC(), t.removed.order.Len(), t.all, t.removed.limit
	}
	return a
}

// NotKnown is the message of the response 404 to a query that finds nothing.
func (a Answer) NotKnown() string {
	return fmt.Sprintf("no removal of such an object is known, or you may not list it: this server keeps only the "+
		"last %d removals since it started at %s, of which there were %d", a.Limit, a.Since.Format(time.RFC3339),
		a.Removals)
}
