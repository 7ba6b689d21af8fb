package explain

import (
	"slices"
	"time"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Tree is an object between its owners and its dependents.
type Tree struct {
	// Owners are those that the object names, each with its own owners in Next.
	Owners []*Node
	// Object has its dependents in Next, and they have theirs.
	Object *Node
	// Hidden are the resources whose objects are not known, with the reason: dependents among them are missing.
	Hidden []Hidden
	// Revision is that of the cluster.
	Revision int64
}

// Hidden is a resource whose objects are not known.
type Hidden struct{ Resource, Why string }

// Grouped has one item for each reason, with all its resources in the order of the first one.
func Grouped(all []Hidden) (groups []Hidden) {
	for _, h := range all {
		i := slices.IndexFunc(groups, func(g Hidden) bool { return g.Why == h.Why })
		if i < 0 {
			groups = append(groups, h)
			continue
		}
		groups[i].Resource += ", " + h.Resource
	}
	return groups
}

// Node is an object of a tree.
type Node struct {
	Object graph.Ref
	// Since is when its deletion began; zero if it is live. Finalizers are all that it has.
	Since      time.Time
	Finalizers []string
	// Owner is the reference that joins the node with the one before it. Verdict is what it means to the collector.
	Owner      graph.Owner
	Verdict    graph.Verdict
	Controller bool
	// Missing: no object has the uid. Object is then what the reference says. Elsewhere: one has, but in another
	// namespace, or with another name or kind.
	Missing, Elsewhere bool
	// Repeated: the object has been shown above, with what follows it.
	Repeated bool
	Next     []*Node
}

// Tree returns the tree of the object; nil if there is none at the key.
func (c *Cluster) Tree(k graph.Key) *Tree {
	x := c.index()
	o := x.keys[k]
	if o == nil {
		return nil
	}
	t := &trees{index: x, w: newWorld(x.resources, x.connected([]graph.Key{k}), c.Now), seen: map[*Object]bool{}}
	tree := &Tree{Owners: t.owners(o), Revision: c.Revision}
	t.seen = map[*Object]bool{}
	tree.Object = t.down(o)
	tree.Hidden = c.Hidden()
	return tree
}

// Hidden are the resources whose objects are not known, or not all.
func (c *Cluster) Hidden() (hidden []Hidden) {
	for i := range c.Resources {
		if r := &c.Resources[i]; r.Unknown != "" {
			hidden = append(hidden, Hidden{Resource: r.Name(), Why: r.Unknown})
		}
	}
	return hidden
}

// trees makes trees; it shows each object's neighbours once.
type trees struct {
	*index
	w    *world
	seen map[*Object]bool
}

func (t *trees) node(o *Object) *Node {
	return &Node{Object: t.ref(o), Since: o.begun(), Finalizers: o.Finalizers}
}

// down is the object with its dependents.
func (t *trees) down(o *Object) *Node {
	n := t.node(o)
	if t.seen[o] {
		n.Repeated = true
		return n
	}
	t.seen[o] = true
	dependents := slices.Clone(t.dependents[o.UID])
	slices.SortFunc(dependents, func(a, b *Object) int { return a.Key.Compare(b.Key) })
	for _, d := range dependents {
		s, _ := t.w.g.Standing(d.Key)
		i := slices.IndexFunc(d.Owners, func(r graph.Owner) bool { return r.UID == o.UID })
		next := t.down(d)
		next.join(d, i, s)
		next.Elsewhere = next.Verdict == graph.Dangling
		n.Next = append(n.Next, next)
	}
	return n
}

// join sets what the reference of the dependent says.
func (n *Node) join(dependent *Object, i int, s graph.Standing) {
	n.Owner, n.Controller = dependent.Owners[i], dependent.Owners[i].UID == dependent.Controller
	if i < len(s.Verdicts) {
		n.Verdict = s.Verdicts[i]
	}
}

// owners are the nodes of the objects that o names.
func (t *trees) owners(o *Object) (nodes []*Node) {
	if t.seen[o] {
		return nil
	}
	t.seen[o] = true
	s, _ := t.w.g.Standing(o.Key)
	for i, r := range o.Owners {
		n := &Node{Missing: true, Object: graph.Ref{
			APIVersion: r.APIVersion, Kind: r.Kind, UID: r.UID, Key: graph.Key{Name: r.Name},
		}}
		if found := t.uids[r.UID]; len(found) > 0 {
			n = t.node(found[0])
			n.Repeated = t.seen[found[0]]
			n.Next = t.owners(found[0])
		}
		n.join(o, i, s)
		n.Elsewhere = !n.Missing && n.Verdict == graph.Dangling
		nodes = append(nodes, n)
	}
	return nodes
}
