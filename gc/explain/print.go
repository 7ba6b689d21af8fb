package explain

import (
	"fmt"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Text prints the tree: owners first, then the object, with its dependents below it.
func (t *Tree) Text(s Style) string {
	p := &printer{Style: s}
	if len(t.Owners) > 0 {
		p.line("", "", "owners:")
		p.items("", p.nodes(t.Owners))
		p.line("", "", "")
	}
	p.line("", "", p.paint(bold, t.Object.Object.String())+p.state(&t.Object))
	p.items("", p.nodes(t.Object.Dependents))
	for i, h := range Grouped(t.Hidden) {
		if i == 0 {
			p.line("", "", "")
		}
		p.line("", "  ", fmt.Sprintf("not shown: dependents in %s (%s)", h.Resource, h.Why))
	}
	return p.String()
}

// nodes returns the items of owners or dependents, each with its own below it.
func (p *printer) nodes(nodes []Node) (items []item) {
	for _, n := range nodes {
		below := append(p.nodes(n.Owners), p.nodes(n.Dependents)...)
		if n.More > 0 {
			below = append(below, item{Text: tooDeep(n.More)})
		}
		items = append(items, item{n.Object.String() + p.state(&n) + p.reference(&n), below})
	}
	return items
}

func tooDeep(more int) string {
	return fmt.Sprintf("and %d more: an answer has at most %d levels", more, mostLevels)
}

// state returns the notable state of a node's object, in parentheses.
func (p *printer) state(n *Node) string {
	var words []string
	if !n.Since.IsZero() {
		words = append(words, p.paint(red, "terminating for "+age(p.Now.Sub(n.Since))))
	}
	if len(n.Finalizers) > 0 {
		words = append(words, p.paint(yellow, "finalizers "+strings.Join(n.Finalizers, ", ")))
	}
	if n.Repeated {
		words = append(words, p.paint(faint, "shown above"))
	}
	return enclosed(" (", words, "; ", ")")
}

// reference returns the notable fields of a node's reference, in brackets.
func (p *printer) reference(n *Node) string {
	var words []string
	if n.Controller {
		words = append(words, "controller")
	}
	if n.Reference.Block {
		words = append(words, "blocking")
	}
	if wrong := n.wrong(); wrong != "" {
		words = append(words, p.paint(red, wrong))
	}
	return enclosed(" [", words, ", ", "]")
}

func enclosed(left string, words []string, separator, right string) string {
	if len(words) == 0 {
		return ""
	}
	return left + strings.Join(words, separator) + right
}

// wrong returns the reason why the reference of a node does not hold its dependent; empty if it does.
func (n *Node) wrong() string {
	switch r := n.Reference; {
	case n.Verdict == graph.Undecidable.String():
		return "kind " + r.Kind + " of " + r.APIVersion + " is not served or not known"
	case n.Verdict == graph.OutOfReach.String():
		return "a cluster-scoped object can't have an owner in a namespace"
	case n.Missing:
		return "does not exist"
	case n.Elsewhere:
		return fmt.Sprintf("the reference says %s %s of %s in the same namespace, which does not exist", r.Kind, r.Name,
			r.APIVersion)
	}
	return ""
}

// Text prints the reasons as a tree, and then the remedies of each, with their commands.
func (r *Reason) Text(s Style) string {
	p := &printer{Style: s}
	var listed []*Reason
	top := p.reason(r, ObjectReference{}, &listed)
	p.line("", "", top.Text)
	p.items("", top.Below)
	for i, one := range listed {
		p.line("", "", "")
		p.line("", "", fmt.Sprintf("(%d) %s:", i+1, one.Object))
		for _, remedy := range one.Remedies {
			p.line("  - ", "    ", remedy.Text)
			if remedy.Command != "" {
				p.WriteString("    $ " + visible(remedy.Command) + "\n") // never broken, so that it can be copied
			}
		}
	}
	if len(r.Admission) > 0 {
		p.line("", "", "")
		p.warnings(r.Admission)
	}
	return p.String()
}

func (p *printer) warnings(all []Asked) {
	for _, a := range all {
		p.line("", "  ", p.paint(yellow, "warning: "+a.Message))
	}
}

// reason returns the item of a reason, which is below one of the object above. It appends reasons with remedies to
// listed; their numbers there follow their messages.
func (p *printer) reason(r *Reason, above ObjectReference, listed *[]*Reason) item {
	one := item{Text: r.Says}
	if r.Object != above {
		one.Text = p.paint(bold, r.Object.String()) + ": " + r.Says
	}
	if len(r.Remedies) > 0 {
		*listed = append(*listed, r)
		one.Text += p.paint(faint, fmt.Sprintf(" (%d)", len(*listed)))
	}
	for _, b := range r.Below {
		one.Below = append(one.Below, p.reason(b, r.Object, listed))
	}
	switch {
	case r.More > 0 && len(r.Below) == 0:
		one.Below = []item{{Text: tooDeep(r.More)}}
	case r.More > 0:
		one.Below = append(one.Below, item{Text: fmt.Sprintf("and %d more", r.More)})
	}
	return one
}

// Text prints the preview: warnings, the changes in order, what stays, and a summary.
func (p *Preview) Text(s Style) string {
	t := &printer{Style: s}
	for _, w := range p.Warnings {
		about := ""
		if w.Object.Name != "" {
			about = w.Object.String() + ": "
		}
		t.line("", "  ", t.paint(yellow, "warning: "+about+w.Text))
	}
	t.warnings(p.Admission)
	list(t, "would happen without the deletion, too:", p.Before, Change.String)
	list(t, "would happen, in this order:", p.Changes, Change.String)
	if len(p.Changes) == 0 {
		t.line("", "", "nothing would change")
	}
	list(t, "would stay, terminating:", p.Left, func(l Left) string {
		return t.paint(red, l.Object.String()) + enclosed(" (finalizers ", l.Finalizers, ", ", usedBy(l.UsedBy)+")")
	})
	list(t, "would stay, with a reference to an owner that is gone:", p.Dangling, func(d Dangling) string {
		return d.Object.String() + " -> " + d.Owner.Kind + " " + d.Owner.Name
	})
	list(t, "in all:", p.Counts, func(c Count) string { return c.Resource + ": " + c.String() })
	return t.String()
}

// usedBy names the first users; it is empty if there are none.
func usedBy(users []ObjectReference) string {
	return enclosed("; used by ", first(3, texts(users, ObjectReference.String)), ", ", "")
}

func texts[T any](values []T, text func(T) string) (all []string) {
	for _, v := range values {
		all = append(all, text(v))
	}
	return all
}

// first returns the first n words, and the number of the others if there are several.
func first(n int, words []string) []string {
	if more := len(words) - n; more > 1 {
		return append(words[:n:n], fmt.Sprintf("%d more", more))
	}
	return words
}

// list prints values below a head, and nothing if there are none.
func list[T any](p *printer, head string, values []T, text func(T) string) {
	for i, v := range values {
		if i == 0 {
			p.line("", "", head)
		}
		p.line("  ", "    ", text(v))
	}
}

// String returns the change in a sentence.
func (c Change) String() string {
	owners := texts(c.Owners, func(o graph.Owner) string { return o.Kind + " " + o.Name })
	of, held := strings.Join(owners, ", "), strings.Join(c.Finalizers, ", ")
	holder, state := "its grace period", "a shorter grace period"
	if held != "" {
		holder, state = "finalizers "+held, "finalizers "+held+" now"
	}
	did := map[What]string{
		Deleted: "is deleted", Marked: "begins to terminate (" + holder + "),", Refinalized: "has " + state + ",",
		Released: "loses its references to " + of + ",", Unblocked: "no longer blocks " + of + ",",
		Freed: "loses finalizer " + held + ",",
	}[c.What]
	return fmt.Sprintf("%s %s by the %s", c.Object, did, c.By)
}

// String lists the numbers that are not 0.
func (c Count) String() string {
	var words []string
	for i, n := range []int{c.Deleted, c.Released, c.Left} {
		if n > 0 {
			did := []string{"deleted", "kept without the owner", "kept, terminating"}[i]
			words = append(words, fmt.Sprintf("%d %s", n, did))
		}
	}
	return strings.Join(words, ", ")
}

// Report prints findings, which are sorted by rule, below their rules.
func Report(findings []Finding, s Style) string {
	p := &printer{Style: s}
	numbers := map[Rule]int{}
	for _, f := range findings {
		numbers[f.Rule]++
	}
	for i, f := range findings {
		if i == 0 || findings[i-1].Rule != f.Rule {
			p.line("", "", p.paint(bold, fmt.Sprintf("%s (%d)", f.Rule, numbers[f.Rule])))
		}
		text := f.Object.String() + ": " + f.Text
		if f.Others > 0 {
			text += fmt.Sprintf(" (and %s)", count(f.Others, "more object"))
		}
		p.line("  ", "    ", text+"; "+f.Harm)
	}
	return p.String()
}
