package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Name is the name of an object as ObjectReference.String returns it.
func Name(r graph.Ref) string {
	return ObjectReference{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}.String()
}

// Text prints the tree: owners first, then the object, with its dependents below it.
func (t *Tree) Text(s Style) string {
	b := &Printer{Style: s}
	if len(t.Owners) > 0 {
		b.Line("", "", "owners:")
		b.owners("", t.Owners)
		b.Line("", "", "")
	}
	b.Line("", "", b.Paint(Bold, Name(t.Object.Object))+b.state(t.Object))
	b.dependents("", t.Object.Next)
	for i, h := range Grouped(t.Hidden) {
		if i == 0 {
			b.Line("", "", "")
		}
		b.Line("", "  ", fmt.Sprintf("not shown: dependents in %s (%s)", h.Resource, h.Why))
	}
	return b.String()
}

func (t *Printer) owners(prefix string, nodes []*Node) {
	for i, n := range nodes {
		first, rest := Branch(prefix, i, len(nodes))
		t.Line(first, rest, Name(n.Object)+t.state(n)+t.reference(n))
		t.owners(rest, n.Next)
	}
}

func (t *Printer) dependents(prefix string, nodes []*Node) {
	for i, n := range nodes {
		first, rest := Branch(prefix, i, len(nodes))
		t.Line(first, rest, Name(n.Object)+t.state(n)+t.reference(n))
		t.dependents(rest, n.Next)
	}
}

// state says how an object is.
func (t *Printer) state(n *Node) string {
	var words []string
	if !n.Since.IsZero() {
		words = append(words, t.Paint(Red, "terminating for "+Age(t.Now.Sub(n.Since))))
	}
	if len(n.Finalizers) > 0 {
		words = append(words, t.Paint(Yellow, "finalizers "+strings.Join(n.Finalizers, ", ")))
	}
	if n.Repeated {
		words = append(words, t.Paint(Faint, "shown above"))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, "; ") + ")"
}

// reference says what joins a node with the one before it.
func (t *Printer) reference(n *Node) string {
	var words []string
	if n.Controller {
		words = append(words, "controller")
	}
	if n.Owner.Block {
		words = append(words, "blocking")
	}
	wrong := map[graph.Verdict]string{
		graph.Undecidable: "kind " + n.Owner.Kind + " of " + n.Owner.APIVersion + " is not served or not known",
		graph.OutOfReach:  "a cluster-scoped object can't have an owner in a namespace",
	}[n.Verdict]
	switch {
	case n.Missing && wrong == "":
		wrong = "does not exist"
	case n.Elsewhere:
		wrong = fmt.Sprintf("the reference says %s %s of %s in the same namespace, which does not exist", n.Owner.Kind,
			n.Owner.Name, n.Owner.APIVersion)
	}
	if wrong != "" {
		words = append(words, t.Paint(Red, wrong))
	}
	if len(words) == 0 {
		return ""
	}
	return " [" + strings.Join(words, ", ") + "]"
}

// Text prints the reasons as a tree, and then what can be done about each, with the commands.
func (r *Reason) Text(s Style) string {
	b := &Printer{Style: s}
	var listed []*Reason
	b.reason("", "", r, r.Object.Key, &listed)
	for i, one := range listed {
		b.Line("", "", "")
		b.Line("", "", fmt.Sprintf("(%d) %s:", i+1, Name(one.Object)))
		for _, remedy := range one.Remedies {
			b.Line("  - ", "    ", remedy.Text)
			if c := remedy.Command(); c != "" {
				b.text.WriteString("    $ " + c + "\n") // never broken: it is there to be copied
			}
		}
	}
	for i, a := range r.Admission {
		if i == 0 {
			b.Line("", "", "")
		}
		b.Line("", "  ", b.Paint(Yellow, "warning: "+a.String()))
	}
	return b.String()
}

func (t *Printer) reason(first, rest string, r *Reason, of graph.Key, listed *[]*Reason) {
	text := r.Says
	if first == "" || r.Object.Key != of {
		text = t.Paint(Bold, Name(r.Object)) + ": " + text
	}
	if len(r.Remedies) > 0 {
		*listed = append(*listed, r)
		text += t.Paint(Faint, fmt.Sprintf(" (%d)", len(*listed)))
	}
	t.Line(first, rest, text)
	n := len(r.Below)
	if r.More > 0 {
		n++
	}
	for i, b := range r.Below {
		f, below := Branch(rest, i, n)
		t.reason(f, below, b, r.Object.Key, listed)
	}
	if r.More > 0 {
		f, below := Branch(rest, n-1, n)
		t.Line(f, below, fmt.Sprintf("and %d more", r.More))
	}
}

// Text prints the preview: a summary, the changes in order, what stays, and warnings.
func (p *Preview) Text(s Style) string {
	b := &Printer{Style: s}
	for _, w := range p.Warnings {
		text := "warning: "
		if w.Object.Name != "" {
			text += Name(w.Object) + ": "
		}
		b.Line("", "  ", b.Paint(Yellow, text+w.Text))
	}
	for _, a := range p.Admission {
		b.Line("", "  ", b.Paint(Yellow, "warning: "+a.String()))
	}
	b.changes("would happen without the deletion, too:", p.Before)
	b.changes("would happen, in this order:", p.Changes)
	if len(p.Changes) == 0 {
		b.Line("", "", "nothing would change")
	}
	if len(p.Left) > 0 {
		b.Line("", "", "would stay, terminating:")
		for _, l := range p.Left {
			held := ""
			if len(l.Finalizers) > 0 {
				held = " (finalizers " + strings.Join(l.Finalizers, ", ") + ")"
			}
			b.Line("  ", "    ", b.Paint(Red, Name(l.Object))+held)
		}
	}
	if len(p.Dangling) > 0 {
		b.Line("", "", "would stay, with a reference to an owner that is gone:")
		for _, d := range p.Dangling {
			b.Line("  ", "    ", Name(d.Object)+" -> "+d.Owner.Kind+" "+d.Owner.Name)
		}
	}
	for i, c := range p.Counts {
		if i == 0 {
			b.Line("", "", "in all:")
		}
		b.Line("  ", "    ", c.Resource+": "+c.String())
	}
	return b.String()
}

func (t *Printer) changes(head string, changes []Change) {
	for i, c := range changes {
		if i == 0 {
			t.Line("", "", head)
		}
		t.Line("  ", "    ", c.String())
	}
}

// String says what happens, on one line.
func (c Change) String() string {
	var owners []string
	for _, o := range c.Owners {
		owners = append(owners, o.Kind+" "+o.Name)
	}
	name := Name(c.Object)
	switch c.What {
	case Deleted:
		return fmt.Sprintf("%s is deleted by the %s", name, c.By)
	case Marked:
		held := "its grace period"
		if len(c.Finalizers) > 0 {
			held = "finalizers " + strings.Join(c.Finalizers, ", ")
		}
		return fmt.Sprintf("%s begins to terminate (%s), by the %s", name, held, c.By)
	case Refinalized:
		if len(c.Finalizers) == 0 {
			return fmt.Sprintf("%s has a shorter grace period, by the %s", name, c.By)
		}
		return fmt.Sprintf("%s has finalizers %s now, by the %s", name, strings.Join(c.Finalizers, ", "), c.By)
	case Released:
		return fmt.Sprintf("%s loses its references to %s, by the %s", name, strings.Join(owners, ", "), c.By)
	case Unblocked:
		return fmt.Sprintf("%s no longer blocks %s, by the %s", name, strings.Join(owners, ", "), c.By)
	}
	return fmt.Sprintf("%s loses finalizer %s, by the %s", name, strings.Join(c.Finalizers, ", "), c.By)
}

// String lists the numbers that are not 0.
func (c Count) String() string {
	var words []string
	for _, n := range []struct {
		n    int
		what string
	}{{c.Deleted, "deleted"}, {c.Released, "kept without the owner"}, {c.Left, "kept, terminating"}} {
		if n.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	return strings.Join(words, ", ")
}

// Report prints findings, grouped by rule.
func Report(findings []Finding, s Style) string {
	b := &Printer{Style: s}
	for i, f := range findings {
		if i == 0 || findings[i-1].Rule != f.Rule {
			n := len(findings[i:])
			if j := slices.IndexFunc(findings[i:], func(g Finding) bool { return g.Rule != f.Rule }); j >= 0 {
				n = j
			}
			b.Line("", "", b.Paint(Bold, fmt.Sprintf("%s (%d)", f.Rule, n)))
		}
		text := Name(f.Object) + ": " + f.Text
		if f.Others > 0 {
			text += fmt.Sprintf(" (and %s)", count(f.Others, "more object"))
		}
		b.Line("  ", "    ", text+"; "+f.Harm)
	}
	return b.String()
}
