package trail

import (
	"strings"
	"time"
)

// Query selects removals. Empty fields select all.
type Query struct {
	// Kind is a kind or the plural of its resource, in any case; Group is its group, nil for any.
	Kind  string
	Group *string
	// Namespace, Name and UID are those of the object.
	Namespace, Name, UID string
}

func (q *Query) selects(e *entry) bool {
	if q.Name != "" && !e.named(q.Name) || q.Namespace != "" && e.in() != q.Namespace {
		return false
	}
	k := e.typ()
	return (q.Group == nil || *q.Group == k.Group) &&
		(q.Kind == "" || strings.EqualFold(q.Kind, k.Kind) || strings.EqualFold(q.Kind, k.Resource))
}

// named reports whether the object has the name.
func (e *entry) named(name string) bool {
	if !e.odd {
		return e.label == name
	}
	own, _ := e.name()
	return own == name
}

// May returns why the user may not see objects of the type in the namespace; empty if they may.
type May func(t Type, namespace string) (why string)

// mostScanned is the maximum number of removals that Find looks at closer, and mostItems of those that it returns.
const (
	mostScanned = 1000
	mostItems   = 20
)

// Find returns the removals that the query selects, with the trails of their owners: objects that are being deleted,
// and then removed ones, the last one first, at most 20. Objects that the user may not see are left out.
func (t *Trail) Find(q Query, may May) (items []*Removal) {
	w := walk{trail: t, may: may, shown: map[string]bool{}, left: mostWalked}
	for _, e := range t.selected(q) {
		if len(items) == mostItems {
			break
		}
		if may(e.typ(), e.in()) == "" {
			r := e.removal()
			w.follow(r, 0)
			items = append(items, r)
		}
	}
	return items
}

// selected returns copies of what the query selects.
func (t *Trail) selected(q Query) (found []entry) {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.UID != "" {
		if e := t.known(q.UID); e != nil && q.selects(e) {
			found = append(found, *e)
		}
		return found
	}
	for m := t.marks.last; m != nil && len(found) < mostScanned; m = m.before {
		if q.selects(&m.entry) {
			found = append(found, m.entry)
		}
	}
	for n := t.next; n > t.first && len(found) < mostScanned; n-- {
		if e := t.at(n - 1); q.selects(e) {
			found = append(found, *e)
		}
	}
	return found
}

// known returns what is known of the object with the uid: its removal, or that its deletion began; else nil.
func (t *Trail) known(id string) *entry {
	u, _ := uidOf(id)
	if e := t.byUID(u); e != nil {
		return e
	}
	if m := t.marks.byUID[u]; m != nil {
		return &m.entry
	}
	return nil
}

// RemovedAt returns when the object with the uid was removed; zero if no removal is known.
func (t *Trail) RemovedAt(id string) (at time.Time) {
	if t == nil {
		return at
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	u, _ := uidOf(id)
	if e := t.byUID(u); e != nil && e.removed != 0 {
		at = time.UnixMilli(e.removedAt)
	}
	return at
}

// The limits of the trails of owners in one answer.
const (
	mostWalked = 500
	mostDepth  = 50
)

// walk adds the trails of owners to an answer.
type walk struct {
	trail *Trail
	may   May
	shown map[string]bool
	left  int
}

// follow adds the trails of the owners of a removal, and so on upward.
func (w *walk) follow(r *Removal, depth int) {
	if r.Object.UID != "" {
		w.shown[r.Object.UID] = true
	}
	for _, request := range []*Request{r.Asked, r.Finished} {
		if request == nil {
			continue
		}
		for i := range request.Owners {
			w.owner(&request.Owners[i], depth+1)
		}
	}
}

func (w *walk) owner(o *Owner, depth int) {
	switch {
	case o.Object.UID == "":
		return
	case w.shown[o.Object.UID]:
		o.Repeated = true
		return
	case w.left == 0 || depth > mostDepth:
		o.Hidden = "the answer has too many owners"
		return
	}
	w.left--
	w.trail.mu.Lock()
	e := w.trail.known(o.Object.UID)
	var copied entry
	if e != nil {
		copied = *e
	}
	w.trail.mu.Unlock()
	if e == nil {
		return
	}
	if o.Hidden = w.may(copied.typ(), copied.in()); o.Hidden == "" {
		o.Trail = copied.removal()
		w.follow(o.Trail, depth)
	}
}
