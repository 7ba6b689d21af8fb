package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Style is how text is shown.
type Style struct {
	// Width is the maximum length of a line, in characters; 0 for none. Longer lines are continued below.
	Width int
	// Color marks what stands out with the control sequences of terminals.
	Color bool
	// Now is the moment of the answer, from which ages are counted.
	Now time.Time
}

// The colours of terminals.
const (
	red    = "31"
	yellow = "33"
	faint  = "2"
	bold   = "1"
)

func (s Style) paint(color, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// Name is how an object is called, as kubectl does, with its namespace before it: ns/deployment.apps/web.
func Name(r graph.Ref) string {
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

// age is a duration in its largest unit, and the next one if that is not 0.
func age(d time.Duration) string {
	seconds := int64(d.Round(time.Second) / time.Second)
	units := []struct {
		size int64
		name string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}
	for i, u := range units {
		if seconds < u.size {
			continue
		}
		text := fmt.Sprintf("%d%s", seconds/u.size, u.name)
		if i+1 < len(units) {
			if n := seconds % u.size / units[i+1].size; n > 0 {
				text += fmt.Sprintf("%d%s", n, units[i+1].name)
			}
		}
		return text
	}
	return "0s"
}

// branch draws the lines of a tree: the text of each is broken at the width, and continued below itself.
type branch struct {
	Style
	b strings.Builder
}

// line writes a line. first stands before it, and rest before what follows of the same text.
func (t *branch) line(first, rest, text string) {
	var keep []string
	if t.Color {
		keep = sequences
	}
	for i, part := range t.wrap(visible(text, keep), len([]rune(first))) {
		if i > 0 {
			first = rest
		}
		t.b.WriteString(first + part + "\n")
	}
}

// wrap breaks a text at spaces.
func (t *branch) wrap(text string, used int) (parts []string) {
	width := t.Width - used
	if t.Width == 0 {
		return []string{text}
	}
	width = max(width, 20)
	line := ""
	for _, word := range strings.Split(text, " ") {
		switch {
		case line == "":
			line = word
		case len([]rune(plain(line)))+1+len([]rune(plain(word))) > width:
			parts, line = append(parts, line), word
		default:
			line += " " + word
		}
	}
	return append(parts, line)
}

// plain is the text without control sequences.
func plain(text string) string {
	for {
		i := strings.IndexByte(text, '\x1b')
		if i < 0 {
			return text
		}
		j := strings.IndexByte(text[i:], 'm')
		if j < 0 {
			return text
		}
		text = text[:i] + text[i+j+1:]
	}
}

// arms are what stands before the item at i of n, and before what follows it.
func arms(prefix string, i, n int) (first, rest string) {
	if i == n-1 {
		return prefix + "└─ ", prefix + "   "
	}
	return prefix + "├─ ", prefix + "│  "
}

// Text prints the tree: owners first, then the object, with its dependents below it.
func (t *Tree) Text(s Style) string {
	b := &branch{Style: s}
	if len(t.Owners) > 0 {
		b.line("", "", "owners:")
		b.owners("", t.Owners)
		b.line("", "", "")
	}
	b.line("", "", b.paint(bold, Name(t.Object.Object))+b.state(t.Object))
	b.dependents("", t.Object.Next)
	for i, h := range Grouped(t.Hidden) {
		if i == 0 {
			b.line("", "", "")
		}
		b.line("", "  ", fmt.Sprintf("not shown: dependents in %s (%s)", h.Resource, h.Why))
	}
	return b.b.String()
}

func (t *branch) owners(prefix string, nodes []*Node) {
	for i, n := range nodes {
		first, rest := arms(prefix, i, len(nodes))
		t.line(first, rest, Name(n.Object)+t.state(n)+t.reference(n))
		t.owners(rest, n.Next)
	}
}

func (t *branch) dependents(prefix string, nodes []*Node) {
	for i, n := range nodes {
		first, rest := arms(prefix, i, len(nodes))
		t.line(first, rest, Name(n.Object)+t.state(n)+t.reference(n))
		t.dependents(rest, n.Next)
	}
}

// state says how an object is.
func (t *branch) state(n *Node) string {
	var words []string
	if !n.Since.IsZero() {
		words = append(words, t.paint(red, "terminating for "+age(t.Now.Sub(n.Since))))
	}
	if len(n.Finalizers) > 0 {
		words = append(words, t.paint(yellow, "finalizers "+strings.Join(n.Finalizers, ", ")))
	}
	if n.Repeated {
		words = append(words, t.paint(faint, "shown above"))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, "; ") + ")"
}

// reference says what joins a node with the one before it.
func (t *branch) reference(n *Node) string {
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
		words = append(words, t.paint(red, wrong))
	}
	if len(words) == 0 {
		return ""
	}
	return " [" + strings.Join(words, ", ") + "]"
}

// Text prints the reasons as a tree, and then what can be done about each, with the commands.
func (r *Reason) Text(s Style) string {
	b := &branch{Style: s}
	var listed []*Reason
	b.reason("", "", r, r.Object.Key, &listed)
	for i, one := range listed {
		b.line("", "", "")
		b.line("", "", fmt.Sprintf("(%d) %s:", i+1, Name(one.Object)))
		for _, remedy := range one.Remedies {
			b.line("  - ", "    ", remedy.Text)
			if c := remedy.Command(); c != "" {
				b.b.WriteString("    $ " + c + "\n") // never broken: it is there to be copied
			}
		}
	}
	for i, a := range r.Admission {
		if i == 0 {
			b.line("", "", "")
		}
		b.line("", "  ", b.paint(yellow, "warning: "+a.String()))
	}
	return b.b.String()
}

func (t *branch) reason(first, rest string, r *Reason, of graph.Key, listed *[]*Reason) {
	text := r.Says
	if first == "" || r.Object.Key != of {
		text = t.paint(bold, Name(r.Object)) + ": " + text
	}
	if len(r.Remedies) > 0 {
		*listed = append(*listed, r)
		text += t.paint(faint, fmt.Sprintf(" (%d)", len(*listed)))
	}
	t.line(first, rest, text)
	n := len(r.Below)
	if r.More > 0 {
		n++
	}
	for i, b := range r.Below {
		f, below := arms(rest, i, n)
		t.reason(f, below, b, r.Object.Key, listed)
	}
	if r.More > 0 {
		f, below := arms(rest, n-1, n)
		t.line(f, below, fmt.Sprintf("and %d more", r.More))
	}
}

// Text prints the preview: a summary, the changes in order, what stays, and warnings.
func (p *Preview) Text(s Style) string {
	b := &branch{Style: s}
	for _, w := range p.Warnings {
		text := "warning: "
		if w.Object.Name != "" {
			text += Name(w.Object) + ": "
		}
		b.line("", "  ", b.paint(yellow, text+w.Text))
	}
	for _, a := range p.Admission {
		b.line("", "  ", b.paint(yellow, "warning: "+a.String()))
	}
	b.changes("would happen without the deletion, too:", p.Before)
	b.changes("would happen, in this order:", p.Changes)
	if len(p.Changes) == 0 {
		b.line("", "", "nothing would change")
	}
	if len(p.Left) > 0 {
		b.line("", "", "would stay, terminating:")
		for _, l := range p.Left {
			held := ""
			if len(l.Finalizers) > 0 {
				held = " (finalizers " + strings.Join(l.Finalizers, ", ") + ")"
			}
			b.line("  ", "    ", b.paint(red, Name(l.Object))+held)
		}
	}
	if len(p.Dangling) > 0 {
		b.line("", "", "would stay, with a reference to an owner that is gone:")
		for _, d := range p.Dangling {
			b.line("  ", "    ", Name(d.Object)+" -> "+d.Owner.Kind+" "+d.Owner.Name)
		}
	}
	for i, c := range p.Counts {
		if i == 0 {
			b.line("", "", "in all:")
		}
		b.line("  ", "    ", c.Resource+": "+c.String())
	}
	return b.b.String()
}

func (t *branch) changes(head string, changes []Change) {
	for i, c := range changes {
		if i == 0 {
			t.line("", "", head)
		}
		t.line("  ", "    ", c.String())
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
	b := &branch{Style: s}
	for i, f := range findings {
		if i == 0 || findings[i-1].Rule != f.Rule {
			n := len(findings[i:])
			if j := slices.IndexFunc(findings[i:], func(g Finding) bool { return g.Rule != f.Rule }); j >= 0 {
				n = j
			}
			b.line("", "", b.paint(bold, fmt.Sprintf("%s (%d)", f.Rule, n)))
		}
		text := Name(f.Object) + ": " + f.Text
		if f.Others > 0 {
			text += fmt.Sprintf(" (and %s)", count(f.Others, "more object"))
		}
		b.line("  ", "    ", text+"; "+f.Harm)
	}
	return b.b.String()
}
