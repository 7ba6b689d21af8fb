package trail

import "strings"

// Query selects removals. Empty fields select all.
type Query struct {
	// Kind is a kind or the plural of its resource, in any case; Group is its group, nil for any.
	Kind  string
	Group *string
	// Namespace, Name and UID are those of the object.
	Namespace, Name, UID string
}

func (q *Query) selects(e *entry) bool {
	if q.Name != "" && e.Object.Name != q.Name || q.Namespace != "" && e.Object.Namespace != q.Namespace {
		return false
	}
	k := e.kind()
	return (q.Group == nil || *q.Group == k.Group) &&
		(q.Kind == "" || strings.EqualFold(q.Kind, k.Kind) || strings.EqualFold(q.Kind, k.Resource))
}

// May returns why the user may not see objects of the type in the namespace; empty if they may.
type May func(t Type, namespace string) (why string)

// The limits of an answer: the removals that the query selects and the user's permissions are checked for, those that
// are returned, and the number and the depth of the trails of owners.
const (
	mostSelected = 1000
	mostItems    = 20
	mostOwned    = 500
	mostDepth    = 50
)

// Find returns the removals that the query selects, with the trails of their owners: objects that are being deleted,
// and then removed ones, the last one first, at most 20. Objects that the user may not see are left out.
func (t *Trail) Find(q Query, may May) (items []*Removal) {
	w := walk{trail: t, may: may, shown: map[string]bool{}, left: mostOwned}
	for _, e := range t.selected(q) {
		if len(items) == mostItems {
			break
		}
		if may(e.kind(), e.Object.Namespace) == "" {
			r := e.removal()
			w.follow(r, 0)
			items = append(items, r)
		}
	}
	return items
}

// selected returns copies of the entries that the query selects.
func (t *Trail) selected(q Query) (found []entry) {
	if t == nil {
		return nil
	}
	if q.UID != "" {
		if e, ok := t.known(q.UID); ok && q.selects(&e) {
			found = append(found, e)
		}
		return found
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, part := range []*recent{&t.deleting, &t.removed} {
		for at := part.order.Back(); at != nil && len(found) < mostSelected; at = at.Prev() {
			if e := at.Value.(*entry); q.selects(e) {
				found = append(found, *e)
			}
		}
	}
	return found
}

// known returns a copy of the entry of the uid: of its removal, or else of its deletion, which has begun.
func (t *Trail) known(uid string) (e entry, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, part := range []*recent{&t.removed, &t.deleting} {
		if found := part.get(uid); found != nil {
			return *found, true
		}
	}
	return e, false
}

// walk adds the trails of owners to an answer.
type walk struct {
	trail *Trail
	may   May
	// shown are the uids of objects whose trails the answer has. left is the number of further owners that it may have.
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
	e, ok := w.trail.known(o.Object.UID)
	if !ok {
		return
	}
	if o.Hidden = w.may(e.kind(), e.Object.Namespace); o.Hidden == "" {
		o.Trail = e.removal()
		w.follow(o.Trail, depth)
	}
}
