package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// View is one vertex of a snapshot.
type View struct {
	Ref
	// Owners are the uids that the object names, sorted, each once.
	Owners []string
	// Missing: some object names the uid and no object has it. APIVersion, Kind and Name are then those of a reference;
	// Namespace and Collection are empty.
	Missing bool
	// Deleting, Waiting and Releasing are the object's lifecycle (D-11).
	Deleting, Waiting, Releasing bool
	// State is the state of the work on the object, and Attempts how often a request has failed.
	State    State
	Attempts int
}

// Snapshot returns the objects that have owners or dependents, and the missing uids, sorted by uid. With uids it has
// only the objects that are connected with them, through owners and dependents; unknown uids are ignored (D-90, D-93).
func (g *Graph) Snapshot(uids []string) []View {
	nodes := g.nodes
	if len(uids) > 0 {
		nodes = g.connected(uids)
	}
	views := make([]View, 0, len(g.ownerUIDs)+g.edgeCount)
	missing := map[string]View{}
	for _, n := range nodes {
		if len(n.refs) == 0 && n.ownerUID == nil {
			continue
		}
		views = append(views, n.view())
		for i := range n.refs {
			o := n.owner(i)
			v := View{Ref: Ref{APIVersion: o.APIVersion, Kind: o.Kind, UID: o.UID, Key: Key{Name: o.Name}}, Missing: true}
			was, ok := missing[o.UID]
			if g.uids[o.UID] == nil && (!ok || compareRefs(v.Ref, was.Ref) < 0) {
				missing[o.UID] = v
			}
		}
	}
	views = slices.AppendSeq(views, maps.Values(missing))
	slices.SortFunc(views, func(a, b View) int { return cmp.Or(strings.Compare(a.UID, b.UID), a.Key.Compare(b.Key)) })
	return views
}

func compareRefs(a, b Ref) int {
	return strings.Compare(a.Kind+"\x00"+a.APIVersion+"\x00"+a.Name, b.Kind+"\x00"+b.APIVersion+"\x00"+b.Name)
}

// connected returns the nodes connected with the uids, through owners that are missing, too.
func (g *Graph) connected(uids []string) map[place]*node {
	found, seen := map[place]*node{}, map[string]bool{}
	next := slices.Clone(uids)
	for len(next) > 0 {
		uid := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[uid] {
			continue
		}
		seen[uid] = true
		for n := g.uids[uid]; n != nil; n = n.same {
			found[n.place] = n
			n.edges(func(e *edge) { next = append(next, e.ownerUID.uid) })
		}
		if a := g.ownerUIDs[uid]; a != nil {
			for e := a.first; e != nil; e = e.next {
				next = append(next, e.dependent.uid)
			}
		}
	}
	return found
}

func (n *node) view() View {
	v := View{
		Ref: n.ref(), Deleting: n.flags.Has(Deleting),
		Waiting: n.class() == Waiting, Releasing: n.class() == Releasing, State: n.state(),
	}
	if n.work != nil {
		v.Attempts = n.work.failures
	}
	n.edges(func(e *edge) { v.Owners = append(v.Owners, e.ownerUID.uid) })
	slices.Sort(v.Owners)
	return v
}
