package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Case tests one statement about a server.
type Case struct {
	// Name is "group/words-with-dashes", unique among the cases.
	Name string `json:"name"`
	// Rules are the IDs of the rules that it checks, such as D-48.
	Rules []string `json:"rules"`
	// Proves is the statement, in the present tense.
	Proves string `json:"proves"`
	// Docs is the page of Kubernetes' documentation about it.
	Docs string `json:"docs"`
	// Needs are the parts of a cluster without which it fails.
	Needs Need `json:"needs,omitempty"`
	// Run creates the objects and checks what happens to them.
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

var (
	caseName = regexp.MustCompile(`^[a-z]+/[a-z0-9]+(-[a-z0-9]+)*$`)
	ruleID   = regexp.MustCompile(`^[A-JL-O0]-(S?\d+[a-z]?)$`)
)

// Check returns the errors in a table of cases: names that are not unique or well-formed, and cases without a statement
// or a rule.
func Check(cases []Case) error {
	seen := map[string]bool{}
	for _, c := range cases {
		switch {
		case !caseName.MatchString(c.Name):
			return fmt.Errorf("case %q: the name isn't group/words-with-dashes", c.Name)
		case seen[c.Name]:
			return fmt.Errorf("case %s: there are two of that name", c.Name)
		case len(c.Rules) == 0 || slices.ContainsFunc(c.Rules, func(r string) bool { return !ruleID.MatchString(r) }):
			return fmt.Errorf("case %s: its rules are %q", c.Name, c.Rules)
		case !strings.HasSuffix(c.Proves, "."):
			return fmt.Errorf("case %s: %q is no sentence", c.Name, c.Proves)
		case !strings.HasPrefix(c.Docs, "https://kubernetes.io/docs/"):
			return fmt.Errorf("case %s: %q is no page of the documentation", c.Name, c.Docs)
		case c.Run == nil:
			return fmt.Errorf("case %s: it does nothing", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// Select returns the cases whose names match run, if it is not nil, and do not match skip; and those that only skip
// excludes.
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
