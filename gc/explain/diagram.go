package explain

import (
	"fmt"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// diagram has the objects of a tree, each once, and the references between them, in the order of the tree.
type diagram struct {
	nodes  []*Node
	arrows []arrow
	// places are the indexes of nodes by uid, drawn the ends of arrows.
	places map[string]int
	drawn  map[[2]int]bool
}

// arrow is an owner reference between the nodes at two indexes.
type arrow struct {
	dependent, owner int
	blocking, wrong  bool
}

func (t *Tree) diagram() *diagram {
	d := &diagram{places: map[string]int{}, drawn: map[[2]int]bool{}}
	d.place(&t.Object)
	d.walk(&t.Object, t.Owners, t.Object.Dependents)
	return d
}

// place returns the index of the node's object.
func (d *diagram) place(n *Node) int {
	i, ok := d.places[n.Object.UID]
	if !ok {
		i = len(d.nodes)
		d.places[n.Object.UID] = i
		d.nodes = append(d.nodes, n)
	}
	return i
}

// walk adds the neighbours of a node, and theirs.
func (d *diagram) walk(n *Node, owners, dependents []Node) {
	for i := range owners {
		o := &owners[i]
		d.draw(n, o, o)
		d.walk(o, o.Owners, nil)
	}
	for i := range dependents {
		m := &dependents[i]
		d.draw(m, n, m)
		d.walk(m, nil, m.Dependents)
	}
}

// draw adds an arrow, whose reference joined has.
func (d *diagram) draw(dependent, owner, joined *Node) {
	a := arrow{dependent: d.place(dependent), owner: d.place(owner)}
	if ends := [2]int{a.dependent, a.owner}; !d.drawn[ends] {
		d.drawn[ends] = true
		a.blocking = joined.Reference != nil && joined.Reference.Block
		holds := joined.Verdict == graph.Solid.String() || joined.Verdict == graph.WaitingOwner.String()
		a.wrong = joined.Missing || !holds
		d.arrows = append(d.arrows, a)
	}
}

// label has the lines that describe a node.
func (n *Node) label() []string {
	lines := []string{n.Object.Kind + " " + n.Object.Name}
	if n.Object.Namespace != "" {
		lines = append(lines, "in "+n.Object.Namespace)
	}
	if !n.Since.IsZero() {
		lines = append(lines, "terminating")
	}
	if n.Missing {
		lines = append(lines, "does not exist")
	}
	return append(lines, n.Finalizers...)
}

// DOT is the tree in the language of Graphviz, with arrows from dependents to owners.
func (t *Tree) DOT() string {
	var b strings.Builder
	b.WriteString("digraph owners {\n  rankdir=BT;\n  node [shape=box];\n")
	d := t.diagram()
	for _, n := range d.nodes {
		style := ""
		switch {
		case n.Missing:
			style = ", style=dashed"
		case !n.Since.IsZero():
			style = ", color=red"
		}
		fmt.Fprintf(&b, "  %q [label=%q%s];\n", n.Object.UID, strings.Join(n.label(), "\n"), style)
	}
	for _, a := range d.arrows {
		style := map[arrow]string{
			{blocking: true}: ` [label="blocking"]`, {wrong: true}: " [color=red, style=dashed]",
			{blocking: true, wrong: true}: ` [label="blocking", color=red, style=dashed]`,
		}[arrow{blocking: a.blocking, wrong: a.wrong}]
		fmt.Fprintf(&b, "  %q -> %q%s;\n", d.nodes[a.dependent].Object.UID, d.nodes[a.owner].Object.UID, style)
	}
	b.WriteString("}\n")
	return b.String()
}

// entities escapes the characters with a meaning in a label of Mermaid, which may have HTML.
var entities = strings.NewReplacer(`#`, "#35;", `"`, "#quot;", `&`, "#amp;", `<`, "#lt;", `>`, "#gt;")

// Mermaid is the tree as a flowchart of Mermaid, with arrows from dependents to owners.
func (t *Tree) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart BT\n")
	d := t.diagram()
	for i, n := range d.nodes {
		label := n.label()
		for j := range label {
			label[j] = entities.Replace(Visible(label[j]))
		}
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", i, strings.Join(label, "<br>"))
		if !n.Since.IsZero() {
			fmt.Fprintf(&b, "  style n%d stroke:red\n", i)
		}
		if n.Missing {
			fmt.Fprintf(&b, "  style n%d stroke-dasharray:5\n", i)
		}
	}
	for _, a := range d.arrows {
		line := "-->"
		if a.wrong {
			line = "-.->"
		}
		if a.blocking {
			line += "|blocking|"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", a.dependent, line, a.owner)
	}
	return b.String()
}
