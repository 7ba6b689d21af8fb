package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// write prints the work list: the number of changes in each section, the changes of each kind, and the changes of no
// kind.
func write(out io.Writer, from, to string, before, after *reader) error {
	changes := diff(before.facts, after.facts)
	refs := maps.Clone(before.refs)
	for of, types := range after.refs {
		refs[of] = append(slices.Clone(refs[of]), types...)
	}
	kinds := kindsOf(before, after)
	w := sorted(changes, kinds, refs)
	var b strings.Builder
	fmt.Fprintf(&b, "# Kubernetes modules %s to %s\n", from, to)
	writeCounts(&b, changes)
	fmt.Fprintf(&b, "\n# By kind (%d)\n", len(w.kinds))
	for _, kind := range kinds {
		writeKind(&b, kind, w.kinds[kind], w.also[kind])
	}
	b.WriteString("\n# Of no kind\n")
	writeRest(&b, w.rest)
	writeFiles(&b, changes)
	_, err := io.WriteString(out, b.String())
	return err
}

// writeCounts prints the number of changes in each section, except that of other packages.
func writeCounts(b *strings.Builder, changes []change) {
	counts := map[section]int{}
	for _, c := range changes {
		counts[c.section]++
	}
	b.WriteString("\n")
	for s := kinds; s < files; s++ {
		fmt.Fprintf(b, "- %s: %d\n", titles[s], counts[s])
	}
}

// writeKind prints a kind with changes: its own changes, and the kinds that list the others.
func writeKind(b *strings.Builder, kind string, changes []change, also []string) {
	if len(changes) == 0 && len(also) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title(kind))
	for _, c := range changes {
		b.WriteString(line(c))
	}
	if gates := newGates(changes); gates != "" {
		fmt.Fprintf(b, "- new gates: %s\n", gates)
	}
	for _, other := range also {
		fmt.Fprintf(b, "- see %s, whose types it has\n", title(other))
	}
}

// writeRest prints a heading for each section, a list for each package, and a line for each change.
func writeRest(b *strings.Builder, rest []change) {
	for s := kinds; s < files; s++ {
		all := slices.DeleteFunc(slices.Clone(rest), func(c change) bool { return c.section != s })
		if len(all) > 0 {
			fmt.Fprintf(b, "\n## %s (%d)\n", titles[s], len(all))
		}
		pkg := ""
		for _, c := range all {
			if c.pkg != pkg {
				pkg = c.pkg
				fmt.Fprintf(b, "\n%s\n\n", pkg)
			}
			b.WriteString(line(c))
		}
	}
}

// writeFiles prints the number of changed files of packages that have no other change.
func writeFiles(b *strings.Builder, changes []change) {
	listed, changed := map[string]bool{}, map[string]int{}
	for _, c := range changes {
		switch {
		case c.section != files:
			listed[c.pkg] = true
		case !listed[c.pkg]:
			changed[c.pkg]++
		}
	}
	if len(changed) > 0 {
		fmt.Fprintf(b, "\n## %s (%d)\n\n", titles[files], len(changed))
		for _, name := range slices.Sorted(maps.Keys(changed)) {
			fmt.Fprintf(b, "- %s: %d files\n", name, changed[name])
		}
	}
}

// line returns a change as a line of a task list.
func line(c change) string {
	switch {
	case c.added:
		return "- [ ] new: " + stated(c.name, c.after) + "\n"
	case c.gone:
		return "- [ ] gone: " + stated(c.name, c.before) + "\n"
	}
	return fmt.Sprintf("- [ ] changed: %s\n  - before: %s\n  - after: %s\n", c.name, c.before, c.after)
}

// stated returns a name with its value, if there is one.
func stated(name, value string) string { return strings.TrimSuffix(name+": "+value, ": ") }
