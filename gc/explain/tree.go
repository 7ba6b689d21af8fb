package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Tree is an object between its owners and its dependents.
type Tree struct {
	Revision int64 `json:"resourceVersion,omitempty,string"` // that of the Cluster
	Object   Node  `json:"object"`                           // the object with its dependents
	// Owners has the owners that the object names, each with its own owners.
	Owners []Node `json:"owners,omitempty"`
	// Hidden has the resources whose objects are not known: dependents among these are missing.
	Hidden []Hidden `json:"notListed,omitempty"`
}

// Node is an object of a tree.
type Node struct {
	Object     ObjectReference `json:"object"`
	Since      time.Time       `json:"terminatingSince,omitzero"` // when its deletion began; zero if it is live
	Finalizers []string        `json:"finalizers,omitempty"`
	// Reference is the owner reference that joins the node with its neighbour toward the Tree's object; zero at that
	// object. Verdict is its state in the collector (graph.Verdict), and Controller its field controller.
	Reference  graph.Owner `json:"reference,omitzero"`
	Verdict    string      `json:"verdict,omitempty"`
	Controller bool        `json:"controller,omitempty"`
	// Missing reports whether no object has the uid; Object is then that of the reference. Elsewhere reports whether
	// the object with the uid is in another namespace, or has another name or kind.
	Missing    bool   `json:"missing,omitempty"`
	Elsewhere  bool   `json:"elsewhere,omitempty"`
	Repeated   bool   `json:"repeated,omitempty"` // the object is elsewhere in the tree, with its neighbours
	More       int    `json:"more,omitempty"`     // how many owners or dependents are left out, below mostLevels
	Owners     []Node `json:"owners,omitempty"`   // set above the Tree's object, Dependents at it and below
	Dependents []Node `json:"dependents,omitempty"`
}

// mostLevels is the maximum number of levels of owners, of dependents, and of reasons in an answer. JSON with many more
// levels can't be decoded.
const mostLevels = 100

// Tree returns the tree of the object at the key. There must be one.
func (x *Index) Tree(k graph.Key) *Tree {
	o := x.keys[k]
	t := &trees{x.world(x.connected([]graph.Key{k}), allWorkers), map[*Object]bool{}}
	tree := &Tree{Revision: x.c.Revision, Owners: t.owners(o, 1), Hidden: x.c.Hidden()}
	clear(t.seen)
	tree.Object = t.node(o, 0, false)
	return tree
}

// Hidden returns the resources of which not all objects are known.
func (c *Cluster) Hidden() (hidden []Hidden) {
	for i := range c.Resources {
		if r := &c.Resources[i]; r.Unknown != "" {
			hidden = append(hidden, Hidden{Resource: r.Name(), Why: r.Unknown})
		}
	}
	return hidden
}

// trees makes trees; it shows the neighbours of each object once.
type trees struct {
	*world
	seen map[*Object]bool
}

// node returns an object with its owners above it if up is set, or else with its dependents below it.
func (t *trees) node(o *Object, level int, up bool) Node {
	n := Node{Object: t.ref(o), Since: o.Begun(), Finalizers: o.Finalizers}
	switch {
	case t.seen[o]:
		n.Repeated = true
	case level == mostLevels && up:
		n.More = len(o.Owners)
	case level == mostLevels:
		n.More = len(t.dependents[o.UID])
	case up:
		n.Owners = t.owners(o, level+1)
	default:
		t.seen[o] = true
		for _, d := range slices.SortedFunc(slices.Values(t.dependents[o.UID]), byKey) {
			next := t.node(d, level+1, false)
			t.join(&next, d, slices.IndexFunc(d.Owners, func(r graph.Owner) bool { return r.UID == o.UID }))
			n.Dependents = append(n.Dependents, next)
		}
	}
	return n
}

func (t *trees) owners(o *Object, level int) (nodes []Node) {
	t.seen[o] = true
	for i, r := range o.Owners {
		n := Node{
			Missing: true, Object: ObjectReference{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID},
		}
		if found := t.uids[r.UID]; len(found) > 0 {
			n = t.node(found[0], level, true)
		}
		t.join(&n, o, i)
		nodes = append(nodes, n)
	}
	return nodes
}

// join records in a node the owner reference i of the dependent.
func (t *trees) join(n *Node, dependent *Object, i int) {
	var v graph.Verdict
	if s, _ := t.g.Standing(dependent.Key); i < len(s.Verdicts) {
		v = s.Verdicts[i]
	}
	n.Reference, n.Verdict = dependent.Owners[i], v.String()
	n.Controller = n.Reference.UID == dependent.Controller
	n.Elsewhere = !n.Missing && v == graph.Dangling
}

// ObjectReference names an object in an answer.
type ObjectReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
	resource   string // the Name of the resource; empty in decoded answers
}

// Key returns the key of the object in the Cluster. The Collection is empty in decoded answers.
func (r ObjectReference) Key() graph.Key {
	return graph.Key{Collection: r.resource, Namespace: r.Namespace, Name: r.Name}
}

// String returns the name with the kind, as kubectl prints it, after the namespace: ns/deployment.apps/web.
func (r ObjectReference) String() string {
	name := strings.ToLower(r.Kind)
	if group, _, ok := strings.Cut(r.APIVersion, "/"); ok {
		name += "." + group
	}
	name += "/" + r.Name
	if r.Namespace != "" {
		return r.Namespace + "/" + name
	}
	return name
}

// Hidden is a resource whose objects are not known, and why.
type Hidden struct {
	Resource string `json:"resource"`
	Why      string `json:"reason"`
}

// Grouped returns one item for each reason, with all its resources in the order of the first one.
func Grouped(all []Hidden) (groups []Hidden) {
	at := map[string]int{}
	for _, h := range all {
		if i, ok := at[h.Why]; ok {
			groups[i].Resource += ", " + h.Resource
			continue
		}
		at[h.Why] = len(groups)
		groups = append(groups, h)
	}
	return groups
}
