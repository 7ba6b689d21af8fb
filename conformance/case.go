package conformance

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// A Case tests one statement about a server.
type Case struct {
	// Name is "group/words-with-dashes", unique among the cases.
	Name string `json:"name"`
	// Rules are the IDs of the rules that the case checks, such as D-48.
	Rules []string `json:"rules"`
	// Proves is the statement, in the present tense.
	Proves string `json:"proves"`
	// Docs is the URL of the page of Kubernetes' documentation about the statement.
	Docs string `json:"docs"`
	// Needs are the parts of a cluster that the case requires.
	Needs Need `json:"needs,omitempty"`
	// Run creates the objects and checks their states.
	Run func(*T) `json:"-"`
}

// Need is a set of the parts of a cluster.
type Need uint8

const (
	// Collector is the garbage collector.
	Collector Need = 1 << iota
	// Namespaces is the namespace controller.
	Namespaces
	// Custom is support for custom resources.
	Custom
	// Cluster is the permission to create cluster-scoped objects.
	Cluster
	// Jobs is the Job controller.
	Jobs
)

// String names the parts, in order.
func (n Need) String() string {
	var words []string
	for i, w := range []string{"collector", "namespaces", "custom", "cluster", "jobs"} {
		if n&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

// MarshalText implements encoding.TextMarshaler.
func (n Need) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// Select returns the cases whose names match run (nil matches all) and do not match skip. Skipped are the cases that
// match both.
func Select(cases []Case, run, skip *regexp.Regexp) (chosen, skipped []Case) {
	for _, c := range cases {
		switch {
		case run != nil && !run.MatchString(c.Name):
		case skip != nil && skip.MatchString(c.Name):
			skipped = append(skipped, c)
		default:
			chosen = append(chosen, c)
		}
	}
	return chosen, skipped
}

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
