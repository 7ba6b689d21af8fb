package explain

import (
	"fmt"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Draw returns the tree in the language of Graphviz ("dot") or as a flowchart of Mermaid ("mermaid"): each object once,
// and the references between them, from dependents to owners, in the order of the tree.
func (t *Tree) Draw(language string) string {
	d := &drawing{dot: language != "mermaid", ids: map[string]int{}, drawn: map[[2]int]bool{}}
	top := t.Object
	top.Owners = t.Owners
	d.box(&top)
	d.walk(&top)
	text := d.boxes.String() + d.arrows.String()
	if d.dot {
		return "digraph owners {\n  rankdir=BT;\n  node [shape=box];\n" + text + "}\n"
	}
	return "flowchart BT\n" + text
}

// drawing is a diagram in one of the languages. ids has the numbers of the objects that have a box, by uid.
type drawing struct {
	dot           bool
	ids           map[string]int
	drawn         map[[2]int]bool // the dependents and owners that are joined
	boxes, arrows strings.Builder
}

func (d *drawing) walk(n *Node) {
	for i := range n.Owners {
		d.arrow(n, &n.Owners[i], &n.Owners[i])
	}
	for i := range n.Dependents {
		d.arrow(&n.Dependents[i], n, &n.Dependents[i])
	}
}

// arrow draws the reference of next, and then the nodes beyond next.
func (d *drawing) arrow(dependent, owner, next *Node) {
	ends := [2]int{d.box(dependent), d.box(owner)}
	if !d.drawn[ends] {
		d.drawn[ends] = true
		wrong := next.Missing || next.Verdict != graph.Solid.String() && next.Verdict != graph.WaitingOwner.String()
		if style := [2]bool{next.Reference.Block, wrong}; d.dot {
			fmt.Fprintf(&d.arrows, "  %q -> %q%s;\n", dependent.Object.UID, owner.Object.UID, map[[2]bool]string{
				{true, false}: ` [label="blocking"]`, {false, true}: " [color=red, style=dashed]",
				{true, true}: ` [label="blocking", color=red, style=dashed]`,
			}[style])
		} else {
			fmt.Fprintf(&d.arrows, "  n%d %s n%d\n", ends[0], map[[2]bool]string{
				{}: "-->", {true}: "-->|blocking|", {false, true}: "-.->", {true, true}: "-.->|blocking|",
			}[style], ends[1])
		}
	}
	d.walk(next)
}

// box draws an object, unless it has a box already, and returns its number.
func (d *drawing) box(n *Node) int {
	id, ok := d.ids[n.Object.UID]
	if ok {
		return id
	}
	id = len(d.ids)
	d.ids[n.Object.UID] = id
	label, dot, mermaid := n.label(), "", ""
	switch {
	case n.Missing:
		dot, mermaid = ", style=dashed", "stroke-dasharray:5"
	case !n.Since.IsZero():
		dot, mermaid = ", color=red", "stroke:red"
	}
	if d.dot {
		fmt.Fprintf(&d.boxes, "  %q [label=%q%s];\n", n.Object.UID, strings.Join(label, "\n"), dot)
		return id
	}
	for i := range label {
		label[i] = entities.Replace(visible(label[i]))
	}
	fmt.Fprintf(&d.boxes, "  n%d[\"%s\"]\n", id, strings.Join(label, "<br>"))
	if mermaid != "" {
		fmt.Fprintf(&d.boxes, "  style n%d %s\n", id, mermaid)
	}
	return id
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
