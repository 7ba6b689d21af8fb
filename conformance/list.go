package conformance

import (
	"fmt"
	"io"
	"strings"
)

// ListText writes the cases with their rules and statements.
func ListText(w io.Writer, cases []Case) error {
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "%s [%s]\n    %s\n    %s\n", c.Name, strings.Join(c.Rules, " "), c.Proves, c.Docs)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ListJSON writes the cases as a JSON array.
func ListJSON(w io.Writer, cases []Case) error { return writeJSON(w, cases) }

// ListMarkdown writes the cases as tables, one for each group.
func ListMarkdown(w io.Writer, cases []Case) error {
	var b strings.Builder
	group := ""
	for _, c := range cases {
		g, name, _ := strings.Cut(c.Name, "/")
		if g != group {
			group = g
			fmt.Fprintf(&b, "\n### %s\n\n| case | asserts | rules | needs |\n| --- | --- | --- | --- |\n", g)
		}
		fmt.Fprintf(&b, "| [`%s/%s`](%s) | %s | %s | %s |\n", g, name, c.Docs, c.Proves, strings.Join(c.Rules, " "), c.Needs)
	}
	_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
	return err
}
