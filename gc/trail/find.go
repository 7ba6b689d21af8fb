package trail

import "strings"

// Query selects removals. Empty fields select all.
type Query struct {
	// Kind is a kind or the plural of its resource, in upper or lower case. Group is its group, or its version, a dot
	// and its group; nil for any.
	Kind  string
	Group *string
	// Namespace, Name and UID are those of the object. Any Namespace also selects cluster-scoped objects.
	Namespace, Name, UID string
}

func (q *Query) selects(e *entry) bool {
	o := &e.Object
	if q.Name != "" && o.Name != q.Name || q.UID != "" && o.UID != cut(q.UID) ||
		q.Namespace != "" && o.Namespace != "" && o.Namespace != q.Namespace {
		return false
	}
	return (q.Group == nil || *q.Group == e.of.Group || *q.Group == e.of.Version+"."+e.of.Group) &&
		(q.Kind == "" || strings.EqualFold(q.Kind, e.of.Kind) || strings.EqualFold(q.Kind, e.of.Resource))
}

// May returns the reason why the user may not see objects of the type in the namespace; empty if they may.
type May func(t Type, namespace string) (why string)

// The limits of an answer: the selected removals for which permissions are checked, the returned removals, the trails
// of owners, and their levels.
const (
	mostSelected = 1000
	mostItems    = 20
	mostOwned    = 500
	mostLevels   = 100
)

// Find returns the removals that the query selects, with the trails of their owners: objects that are being deleted,
// and then removed ones, the last one first, at most 20. Objects that the user may not see are left out.
func (t *Trail) Find(q Query, may May) (items []*Removal) {
	w := walk{trail: t, may: may, shown: map[string]bool{}, left: mostOwned}
	for _, e := range t.selected(q) {
		if len(items) < mostItems && may(e.of, e.Object.Namespace) == "" {
			items = append(items, w.follow(e.removal()))
		}
	}
	return items
}

func (t *Trail) selected(q Query) (found []entry) {
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
	// shown are the uids of objects whose trails the answer has. left is the number of further owners that it may have,
	// and level the number of removals above the owner.
	shown       map[string]bool
	left, level int
}

// follow adds the trails of the owners of a removal, and so on upward.
func (w *walk) follow(r *Removal) *Removal {
	w.level++
	defer func() { w.level-- }()
	w.shown[r.Object.UID] = true
	for _, request := range []*Request{r.Asked, r.Finished} {
		if request != nil {
			for i := range request.Owners {
				w.owner(&request.Owners[i], r.Object.Namespace)
			}
		}
	}
	return r
}

// owner adds the trail of an owner of an object in the namespace. An object with the owner's uid that has another kind,
// name or namespace is not the owner: the owner is absent (D-17).
func (w *walk) owner(o *Owner, namespace string) {
	switch uid := o.Object.UID; {
	case uid == "":
	case w.shown[uid]:
		o.Repeated = true
	case w.left == 0, w.level > mostLevels:
		o.Hidden = "the answer has too many owners"
	default:
		w.left--
		if e, ok := w.trail.known(uid); ok && e.Object.Kind == o.Object.Kind && e.Object.Name == o.Object.Name &&
			(e.Object.Namespace == "" || e.Object.Namespace == namespace) {
			if o.Hidden = w.may(e.of, e.Object.Namespace); o.Hidden == "" {
				o.Trail = w.follow(e.removal())
			}
		}
	}
}
