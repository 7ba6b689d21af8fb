package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// write prints the work list: a heading for each section, a list for each package, a line for each change.
func write(out io.Writer, from, to string, work []change) error {
	slices.SortStableFunc(work, func(a, b change) int { return int(a.section) - int(b.section) })
	var b strings.Builder
	fmt.Fprintf(&b, "# Kubernetes modules %s to %s\n", from, to)
	counted := map[section]int{}
	for _, c := range work {
		counted[c.section]++
	}
	listed := map[string]bool{}
	changed := map[string]int{}
	current, pkg := section(-1), ""
	for _, c := range work {
		if c.section == files {
			if !listed[c.pkg] {
				changed[c.pkg]++
			}
			continue
		}
		listed[c.pkg] = true
		if c.section != current {
			current, pkg = c.section, ""
			fmt.Fprintf(&b, "\n## %s (%d)\n", titles[current], counted[current])
		}
		if c.pkg != pkg {
			pkg = c.pkg
			fmt.Fprintf(&b, "\n%s\n\n", pkg)
		}
		b.WriteString(line(c))
	}
	if len(changed) > 0 {
		fmt.Fprintf(&b, "\n## %s (%d)\n\n", titles[files], len(changed))
		for _, name := range sorted(changed) {
			fmt.Fprintf(&b, "- %s: %d files\n", name, changed[name])
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func line(c change) string {
	switch {
	case c.added && c.after == "":
		return fmt.Sprintf("- [ ] new: %s\n", c.name)
	case c.added:
		return fmt.Sprintf("- [ ] new: %s: %s\n", c.name, c.after)
	case c.gone && c.before == "":
		return fmt.Sprintf("- [ ] gone: %s\n", c.name)
	case c.gone:
		return fmt.Sprintf("- [ ] gone: %s: %s\n", c.name, c.before)
	}
	return fmt.Sprintf("- [ ] changed: %s\n  - before: %s\n  - after: %s\n", c.name, c.before, c.after)
}

func sorted(m map[string]int) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
