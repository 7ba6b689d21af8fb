package trail

import (
	"cmp"
	"container/list"
	"slices"
	"sync"
	"time"
)

// Removals and mostBytes are the limits of each part of a Trail (doc.go).
const (
	Removals  = 100_000
	mostBytes = 64 << 20
)

// Trail records removals. Its methods may be called from any goroutine.
type Trail struct {
	mu sync.Mutex // guards the fields below
	// since is the time when the Trail began to record, and all is the number of removals since then.
	since             time.Time
	all               int64
	removed, deleting recent
}

// New returns an empty Trail; since is the time of Answer.Since.
func New(since time.Time) *Trail {
	limits := recent{limit: Removals, bytes: mostBytes}
	t := &Trail{removed: limits, deleting: limits}
	t.Reset(since)
	return t
}

// Reset forgets everything, at the time of a rollback: the removed objects may exist again.
func (t *Trail) Reset(since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since, t.all = since, 0
	for _, part := range []*recent{&t.removed, &t.deleting} {
		*part = recent{limit: part.limit, bytes: part.bytes, order: list.New(), byUID: map[string]*list.Element{}}
	}
}

// Marked records that the object's deletion began: its deletionTimestamp was set at the revision. finalizers are those
// that it then has. by is nil if the request is not known. Only the first call for an object has an effect.
func (t *Trail) Marked(s *Subject, revision int64, at time.Time, finalizers []string, by *Request) {
	if s.UID == "" {
		return
	}
	e := newEntry(s)
	e.begin(moment(revision, at), copiedList(finalizers), by)
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.removed.get(s.UID)
	switch {
	case old != nil && old.Terminating == nil && old.Asked == nil && old.Removed.Revision > revision:
		t.removed.take(s.UID) // another request has removed it before this one is recorded
		old.begin(e.Terminating, e.Finalizers, by)
		t.removed.add(old)
	case t.deleting.get(s.UID) == nil:
		t.deleting.add(e)
	}
}

// Removed records that the request removed the object at the revision. finalizers are those that the request removed
// together with the object.
func (t *Trail) Removed(s *Subject, revision int64, at time.Time, finalizers []string, by *Request) {
	e, last := newEntry(s), copiedList(finalizers)
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.removed.get(s.UID); old != nil && old.Elsewhere && old.Removed.Revision == revision { // Seen came first
		e = t.removed.take(s.UID)
		e.Elsewhere = false
	} else {
		t.begun(e, revision, at)
	}
	e.end(s, last, by)
	t.removed.add(e)
}

// Seen records that the object was removed at the revision, by an unknown request. It has no effect after Removed.
func (t *Trail) Seen(s *Subject, revision int64, at time.Time) {
	if s.UID == "" {
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

// begun turns e into the entry of a removal, and adds the request that began the deletion, if it is known.
func (t *Trail) begun(e *entry, revision int64, at time.Time) {
	e.Removed = moment(revision, at)
	if m := t.deleting.take(e.Object.UID); m != nil {
		e.begin(m.Terminating, m.Finalizers, m.Asked)
	}
	t.all++
}

// RemovedAt returns when the object with the uid was removed; zero if no removal is known.
func (t *Trail) RemovedAt(uid string) (at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.removed.get(uid); e != nil {
		at = e.Removed.Time
	}
	return at
}

// Answer returns an answer without items.
func (t *Trail) Answer() Answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Answer{
		APIVersion: "kubecascade/v1", Kind: "Trail", Since: t.since.UTC(), Removals: t.all, Kept: t.removed.order.Len(),
		Limit: t.removed.limit, Items: []*Removal{},
	}
}

// entry is a removal, or a deletion that has begun. Its requests may have no URI.
type entry struct {
	Removal
	of     Type
	weight int // the result of weigh when the entry was added
}

func newEntry(s *Subject) *entry {
	return &entry{of: s.Type, Removal: Removal{Object: Object{
		APIVersion: s.apiVersion(), Kind: s.Kind,
		Namespace: copied(s.Namespace), Name: copied(s.Name), UID: copied(s.UID),
	}}}
}

// begin records the request that began the deletion, and end the one that removed the object: the same one, unless the
// object was terminating.
func (e *entry) begin(at *Moment, finalizers []string, by *Request) {
	e.Terminating, e.Finalizers, e.Asked = at, finalizers, by
}

func (e *entry) end(s *Subject, lastFinalizers []string, by *Request) {
	if e.LastFinalizers = lastFinalizers; e.Terminating != nil || s.Terminating {
		e.Finished = by
	} else {
		e.Asked = by
	}
}

func moment(revision int64, at time.Time) *Moment {
	return &Moment{revision, at.UTC().Truncate(time.Millisecond)}
}

// removal returns a copy for an answer.
func (e *entry) removal() *Removal {
	r := e.Removal
	for _, by := range []**Request{&r.Asked, &r.Finished} {
		if *by != nil {
			one := **by
			one.URI = cmp.Or(one.URI, e.of.path(e.Object.Namespace, e.Object.Name))
			one.Owners = slices.Clone(one.Owners)
			*by = &one
		}
	}
	if e.Finished == e.Asked {
		r.Finished = nil
	}
	return &r
}

// entryBytes is the approximate size of an entry without its strings, together with its list element, its index entry
// and its request.
const entryBytes = 490

// weigh estimates the bytes that the entry keeps in memory. A request that several entries share counts for each.
func (e *entry) weigh() int {
	o := &e.Object
	all := slices.Concat(e.Finalizers, e.LastFinalizers, []string{o.APIVersion, o.Namespace, o.Name, o.UID})
	for _, r := range []*Request{e.Asked, e.Finished} {
		if r != nil {
			all = append(all, r.URI, r.AuditID)
			if r.Controller == "" { // a controller's names are constants
				all = append(all, r.User, r.UserAgent, r.Verb)
			}
			for _, o := range r.Owners {
				all = append(all, o.Object.APIVersion, o.Object.Kind, o.Object.Name, o.Object.UID)
			}
		}
	}
	n := entryBytes
	for _, s := range all {
		n += len(s)
	}
	return n
}

// recent has the last entries in the order in which they were added: at most limit, with at most this number of bytes.
type recent struct {
	limit, bytes int
	weight       int
	// order has *entry, the oldest first. byUID has the last element of each uid.
	order *list.List
	byUID map[string]*list.Element
}

// get returns the last entry of the uid; nil if there is none.
func (r *recent) get(uid string) *entry {
	if at := r.byUID[cut(uid)]; at != nil {
		return at.Value.(*entry)
	}
	return nil
}

// add adds an entry. It first removes the oldest entries that exceed the limits.
func (r *recent) add(e *entry) {
	e.weight = e.weigh()
	for r.order.Len() >= r.limit || r.order.Len() > 0 && r.weight+e.weight > r.bytes {
		r.remove(r.order.Front())
	}
	at := r.order.PushBack(e)
	r.weight += e.weight
	if e.Object.UID != "" {
		r.byUID[e.Object.UID] = at
	}
}

// take removes the last entry of the uid and returns it; nil if there is none.
func (r *recent) take(uid string) *entry { return r.remove(r.byUID[cut(uid)]) }

func (r *recent) remove(at *list.Element) *entry {
	if at == nil {
		return nil
	}
	e := r.order.Remove(at).(*entry)
	r.weight -= e.weight
	if r.byUID[e.Object.UID] == at { // a later object may have the uid
		delete(r.byUID, e.Object.UID)
	}
	return e
}
