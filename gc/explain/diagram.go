package explain

import (
	"fmt"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// edge is an arrow of a diagram, from a dependent to its owner.
type edge struct{ from, to *Node }

// flat are the nodes of a tree, each object once, and the edges between them, in the order of the tree.
func (t *Tree) flat() (nodes []*Node, edges []edge) {
	seen := map[string]*Node{}
	visit := func(n *Node) *Node {
		if seen[n.Object.UID] == nil {
			seen[n.Object.UID] = n
			nodes = append(nodes, n)
		}
		return seen[n.Object.UID]
	}
	drawn := map[[2]string]bool{}
	draw := func(from, to, reference *Node) {
		ends := [2]string{from.Object.UID, to.Object.UID}
		if !drawn[ends] {
			drawn[ends] = true
			edges = append(edges, edge{&Node{
				Object: visit(from).Object, Owner: reference.Owner, Verdict: reference.Verdict, Missing: reference.Missing,
				Elsewhere: reference.Elsewhere,
			}, visit(to)})
		}
	}
	var up, down func(n *Node, next []*Node)
	up = func(n *Node, next []*Node) {
		for _, owner := range next {
			draw(n, owner, owner)
			up(owner, owner.Next)
		}
	}
	down = func(n *Node, next []*Node) {
		for _, d := range next {
			draw(d, n, d)
			down(d, d.Next)
		}
	}
	visit(t.Object)
	up(t.Object, t.Owners)
	down(t.Object, t.Object.Next)
	return nodes, edges
}

// words are the lines that say what a node is.
func (n *Node) words() []string {
	words := []string{n.Object.Kind + " " + n.Object.Name}
	if n.Object.Namespace != "" {
		words = append(words, "in "+n.Object.Namespace)
	}
	if !n.Since.IsZero() {
		words = append(words, "terminating")
	}
	if n.Missing {
		words = append(words, "does not exist")
	}
	return append(words, n.Finalizers...)
}

// wrong reports whether the reference doesn't hold the dependent.
func (n *Node) wrong() bool { return n.Missing || n.Elsewhere || n.Verdict > graph.WaitingOwner }

// DOT is the tree in the language of Graphviz, with arrows from dependents to owners.
func (t *Tree) DOT() string {
	var b strings.Builder
	b.WriteString("digraph owners {\n  rankdir=BT;\n  node [shape=box];\n")
	nodes, edges := t.flat()
	for _, n := range nodes {
		style := ""
		if !n.Since.IsZero() {
			style = ", color=red"
		}
		if n.Missing {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  %q [label=%q%s];\n", n.Object.UID, strings.Join(n.words(), "\n"), style)
	}
	for _, e := range edges {
		var style []string
		if e.from.Owner.Block {
			style = append(style, `label="blocking"`)
		}
		if e.from.wrong() {
			style = append(style, "color=red", "style=dashed")
		}
		attributes := ""
		if len(style) > 0 {
			attributes = " [" + strings.Join(style, ", ") + "]"
		}
		fmt.Fprintf(&b, "  %q -> %q%s;\n", e.from.Object.UID, e.to.Object.UID, attributes)
	}
	b.WriteString("}\n")
	return b.String()
}

// entities are the characters that mean something in a label of Mermaid, which may have HTML.
var entities = strings.NewReplacer(`#`, "#35;", `"`, "#quot;", `&`, "#amp;", `<`, "#lt;", `>`, "#gt;")

// Mermaid is the tree as a flowchart of Mermaid, with arrows from dependents to owners.
func (t *Tree) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart BT\n")
	nodes, edges := t.flat()
	ids := map[string]string{}
	for i, n := range nodes {
		ids[n.Object.UID] = fmt.Sprintf("n%d", i)
		var label []string
		for _, word := range n.words() {
			label = append(label, entities.Replace(Visible(word)))
		}
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", i, strings.Join(label, "<br>"))
		if !n.Since.IsZero() {
			fmt.Fprintf(&b, "  style n%d stroke:red\n", i)
		}
		if n.Missing {
			fmt.Fprintf(&b, "  style n%d stroke-dasharray:5\n", i)
		}
	}
	for _, e := range edges {
		arrow := "-->"
		if e.from.wrong() {
			arrow = "-.->"
		}
		if e.from.Owner.Block {
			arrow += "|blocking|"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", ids[e.from.Object.UID], arrow, ids[e.to.Object.UID])
	}
	return b.String()
}
