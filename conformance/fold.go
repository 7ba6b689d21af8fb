package conformance

import (
	"regexp"
	"strings"
)

// results are some results of a report.
type results []Result

func (all results) names() (names []string) {
	for _, r := range all {
		names = append(names, r.Name)
	}
	return names
}

// folded are the failures, those that say the same together, in the order of the first of each.
func (r *Report) folded() (groups []results) {
	place := map[string]int{}
	for _, res := range r.Results {
		if res.Failure == nil {
			continue
		}
		s := r.says(res)
		i, ok := place[s]
		if !ok {
			i = len(groups)
			place[s] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], res)
	}
	return groups
}

// inVain ends what was seen by cases that have waited until the end of their time.
const inVain = " after the case began"

// says is what a failure says besides what differs from case to case. Cases that have waited for a part of the cluster
// that does not work all have that in common.
func (r *Report) says(res Result) string {
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
