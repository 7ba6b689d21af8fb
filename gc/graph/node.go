package graph

import "strings"

// place is a Key with its collection interned.
type place struct {
	collection      *collection
	namespace, name string
}

func (p place) key() Key { return Key{p.collection.name, p.namespace, p.name} }

// node is one stored object. Most have neither references nor dependents and need little more memory than their
// strings.
type node struct {
	place
	stored   *kindName
	uid      string
	revision int64
	refs     []ref
	// ownerUID lists the dependents; nil if no reference names the uid.
	ownerUID *ownerUID
	// same is the next object with the same uid, which only a direct write to etcd can have created.
	same *node
	// work is nil while there is nothing to do.
	work  *work
	flags Flags
	gone  bool
}

// ref is one owner reference. References that share a uid share an edge (J-37).
type ref struct {
	kind *kind
	name string
	edge *edge
	// lost is the place of the owner if its deletion was seen, else nil. Uids don't come back, so the reference
	// dangles forever, even if its kind is no longer served (J-45).
	lost *place
	// orphaned: the owner was orphaning its dependents when it was removed. It did not wait for this reference, which
	// was added too late. The reference is removed all the same (J-08).
	orphaned bool
	// unverified: an update changed the name or the kind, but not the uid (D-19). The owner counts as solid until there
	// is another reason to decide on the object.
	unverified bool
	// block is blockOwnerDeletion. first: no reference before it has the same uid.
	block, first bool
}

// edge joins a dependent to the uid of an owner.
type edge struct {
	dependent  *node
	ownerUID   *ownerUID
	prev, next *edge
	// blocking: one of the references with this uid has blockOwnerDeletion (D-43).
	blocking bool
	// released: the edge closes a cycle of waiting objects, and will be unblocked.
	released bool
	// held: the owner had to wait before change ran alter.
	held bool
}

// ownerUID is a uid that references name, whether or not an object has it.
type ownerUID struct {
	uid string
	// owner is the first object with the uid (node.same has the others); nil if there is none.
	owner *node
	// first and last are the ends of the list of edges, in the order in which they were made.
	first, last *edge
	// count is the number of all edges, and blocking that of edges that block. dying is the number of blocking edges
	// whose dependent waits for its own dependents, and pending that of edges whose dependent is counted
	// (node.counted).
	count, blocking, dying, pending int
}

// owners calls f for each object that has the uid, until it returns false.
func (a *ownerUID) owners(f func(*node) bool) {
	for o := a.owner; o != nil && f(o); o = o.same {
	}
}

// has reports whether an object with the uid has the class.
func (a *ownerUID) has(c Class) (found bool) {
	a.owners(func(o *node) bool {
		found = o.class() == c
		return !found
	})
	return found
}

func (a *ownerUID) add(e *edge) {
	e.prev = a.last
	if a.last != nil {
		a.last.next = e
	} else {
		a.first = e
	}
	a.last = e
	a.tally(e, 1)
}

func (a *ownerUID) remove(e *edge) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		a.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		a.last = e.prev
	}
	e.prev, e.next = nil, nil
	a.tally(e, -1)
}

// tally adds the edge's present state to the counts.
func (a *ownerUID) tally(e *edge, by int) {
	a.count += by
	if e.blocking {
		a.blocking += by
		if e.dependent.class() == Waiting {
			a.dying += by
		}
	}
	if e.dependent.counted() {
		a.pending += by
	}
}

// holding reports whether a waiting owner still has to wait.
func (a *ownerUID) holding() bool { return a.blocking > 0 || a.pending > 0 }

// Class is the effect of an existing object on its dependents.
type Class uint8

// The classes.
const (
	// Firm owners keep their dependents, even while they are terminating (D-35, J-42).
	Firm Class = iota
	// Waiting owners are deleted in the foreground: they wait for their dependents.
	Waiting
	// Releasing owners are deleted and orphan their dependents. They count as solid (D-35).
	Releasing
	// Unknown owners can't be decoded, so nothing is decided on them.
	Unknown
)

// String names the class.
func (c Class) String() string { return [...]string{"firm", "waiting", "releasing", "unknown"}[c] }

// class returns n's class. It depends only on the flags of the newest state, never on transitions (J-01, J-03).
func (n *node) class() Class {
	switch {
	case n.flags.Has(Broken):
		return Unknown
	case n.flags.Has(Deleting | OrphanFinalizer): // D-21: orphan wins
		return Releasing
	case n.flags.Has(Deleting | ForegroundFinalizer):
		return Waiting
	}
	return Firm
}

// ref returns the object's reference for errors, requests and reports.
func (n *node) ref() Ref {
	name := n.stored
	if p := n.collection.preferred; p != nil {
		name = p
	}
	return Ref{Key: n.key(), APIVersion: name.apiVersion, Kind: name.kind, UID: n.uid, Revision: n.revision}
}

// owner returns the reference at i in the API's form.
func (n *node) owner(i int) Owner {
	r := &n.refs[i]
	return Owner{
		APIVersion: r.kind.name.apiVersion, Kind: r.kind.name.kind,
		Name: r.name, UID: r.edge.ownerUID.uid, Block: r.block,
	}
}

// sameOwners reports whether the references are the given ones, in the same order.
func (n *node) sameOwners(owners []Owner) bool {
	if len(n.refs) != len(owners) {
		return false
	}
	for i := range owners {
		if n.owner(i) != owners[i] {
			return false
		}
	}
	return true
}

// edges calls f once for each distinct uid that the node names, in the order of its references.
func (n *node) edges(f func(*edge)) {
	for i := range n.refs {
		if n.refs[i].first {
			f(n.refs[i].edge)
		}
	}
}

func compareNodes(a, b *node) int {
	if c := a.key().Compare(b.key()); c != 0 {
		return c
	}
	return strings.Compare(a.uid, b.uid)
}
