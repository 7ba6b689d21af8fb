package conformance

import (
	"regexp"
	"slices"
	"strings"
)

// grouped puts the results of one key together, in the order of the first of each. Those whose key is empty are left out.
func grouped(all []Result, key func(Result) string) (groups [][]Result) {
	place := map[string]int{}
	for _, r := range all {
		k := key(r)
		i, ok := place[k]
		if !ok {
			i = len(groups)
			place[k], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return slices.DeleteFunc(groups, func(g []Result) bool { return key(g[0]) == "" })
}

// names are those of the cases, one a line.
func names(all []Result) string {
	var lines []string
	for _, r := range all {
		lines = append(lines, r.Name)
	}
	return indent(strings.Join(lines, "\n"))
}

// says is what a failure says besides what differs from case to case. Cases that have waited for a part of the cluster
// that does not work all have that in common. It is empty for a case that has not failed.
func (r *Report) says(res Result) string {
	if res.Failure == nil {
		return ""
	}
	if strings.HasSuffix(res.Failure.Seen, inVain) {
		switch {
		case r.Collector != "" && res.Needs&Collector != 0:
			return "collector"
		case r.Namespaces != "" && res.Needs&Namespaces != 0:
			return "namespaces"
		case r.Jobs != "" && res.Needs&Jobs != 0:
			return "jobs"
		}
	}
	text := res.Failure.Expected + "\n" + res.Failure.Seen
	for _, d := range differing {
		text = d.ReplaceAllString(text, "*")
	}
	return text
}

// differing are the parts of failures that differ from case to case: uids, names with the prefix of a case, and numbers
// such as durations.
var differing = []*regexp.Regexp{
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
	regexp.MustCompile(`conformance-[a-z0-9]{5}-[a-z0-9-]+`),
	regexp.MustCompile(`[0-9][0-9.]*(ms|m|s|µs)?([0-9.]+s)?`),
}
