package explain

import (
	"fmt"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// diagram has the objects of a tree, each once, and the references between them, in the order of the tree.
type diagram struct {
	boxes  []box
	arrows []arrow
}

// box is an object; id is its index.
type box struct {
	id int
	*Node
}

type arrow struct {
	dependent, owner box
	blocking, wrong  bool
}

func (t *Tree) diagram() (d diagram) {
	boxes, drawn := map[string]box{}, map[[2]int]bool{}
	place := func(n *Node) box {
		b, ok := boxes[n.Object.UID]
		if !ok {
			b = box{len(d.boxes), n}
			boxes[n.Object.UID] = b
			d.boxes = append(d.boxes, b)
		}
		return b
	}
	var walk func(*Node)
	draw := func(dependent, owner, next *Node) { // next has the reference
		a := arrow{dependent: place(dependent), owner: place(owner)}
		if ends := [2]int{a.dependent.id, a.owner.id}; !drawn[ends] {
			drawn[ends] = true
			a.blocking = next.Reference != nil && next.Reference.Block
			a.wrong = next.Missing || next.Verdict != graph.Solid.String() && next.Verdict != graph.WaitingOwner.String()
			d.arrows = append(d.arrows, a)
		}
		walk(next)
	}
	walk = func(n *Node) {
		for i := range n.Owners {
			draw(n, &n.Owners[i], &n.Owners[i])
		}
		for i := range n.Dependents {
			draw(&n.Dependents[i], n, &n.Dependents[i])
		}
	}
	top := t.Object
	top.Owners = t.Owners
	place(&top)
	walk(&top)
	return d
}

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
	if n.More > 0 {
		lines = append(lines, tooDeep(n.More))
	}
	return append(lines, n.Finalizers...)
}

// entities escapes the characters with a meaning in a label of Mermaid, which may have HTML.
var entities = strings.NewReplacer(`#`, "#35;", `"`, "#quot;", `&`, "#amp;", `<`, "#lt;", `>`, "#gt;")

// Draw is the tree in the language of Graphviz ("dot") or as a flowchart of Mermaid ("mermaid"), with arrows from
// dependents to owners.
func (t *Tree) Draw(language string) string {
	d := t.diagram()
	if language == "mermaid" {
		return d.mermaid()
	}
	return d.dot()
}

func (d *diagram) dot() string {
	var b strings.Builder
	b.WriteString("digraph owners {\n  rankdir=BT;\n  node [shape=box];\n")
	for _, n := range d.boxes {
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
		style := map[[2]bool]string{
			{true, false}: ` [label="blocking"]`, {false, true}: " [color=red, style=dashed]",
			{true, true}: ` [label="blocking", color=red, style=dashed]`,
		}[[2]bool{a.blocking, a.wrong}]
		fmt.Fprintf(&b, "  %q -> %q%s;\n", a.dependent.Object.UID, a.owner.Object.UID, style)
	}
	return b.String() + "}\n"
}

func (d *diagram) mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart BT\n")
	for _, n := range d.boxes {
		label := n.label()
		for i := range label {
			label[i] = entities.Replace(Visible(label[i]))
		}
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", n.id, strings.Join(label, "<br>"))
		if !n.Since.IsZero() {
			fmt.Fprintf(&b, "  style n%d stroke:red\n", n.id)
		}
		if n.Missing {
			fmt.Fprintf(&b, "  style n%d stroke-dasharray:5\n", n.id)
		}
	}
	for _, a := range d.arrows {
		line := map[[2]bool]string{{}: "-->", {true}: "-->|blocking|", {false, true}: "-.->", {true, true}: "-.->|blocking|"}
		fmt.Fprintf(&b, "  n%d %s n%d\n", a.dependent.id, line[[2]bool{a.blocking, a.wrong}], a.owner.id)
	}
	return b.String()
}
