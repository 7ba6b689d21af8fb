package check

import (
	"fmt"
	"strings"
)

// reads checks each read against etcd, and against the revisions that were known when it began.
func reads(h *History, t *timeline, f *frontier) []Violation {
	var out []Violation
	for _, r := range h.Reads {
		least, most := f.bounds(r)
		var rule Rule
		var what string
		switch {
		case r.Gone:
			rule, what = gone(h, r)
		case r.Key != "":
			rule, what = get(t, r, least.revision, most)
		default:
			rule, what = list(t, r, least.revision, most)
		}
		if rule == "" {
			continue
		}
		shown := []string{r.String()}
		if least.by != nil {
			shown = append(shown, fmt.Sprintf("known before: %v", least.by))
		}
		if r.Key != "" {
			shown = append(shown, t.around(r.Key, least.revision)...)
		}
		for _, v := range r.Versions {
			if r.Key == "" && strings.Contains(what, v.Key) {
				shown = append(shown, t.around(v.Key, r.Revision)...)
			}
		}
		out = append(out, Violation{rule, what, shown})
	}
	return out
}

func list(t *timeline, r *Read, least, most int64) (Rule, string) {
	switch {
	case r.Revision < least:
		return StaleRead, fmt.Sprintf("the %s list is at %d, %d was known", r.Mode, r.Revision, least)
	case r.Revision > most:
		return WrongRead, fmt.Sprintf("a list that ended before %d was written is at %d", most+1, r.Revision)
	case r.Mode == Exact && r.Revision != r.Asked:
		return WrongRead, fmt.Sprintf("a list at exactly %d is at %d", r.Asked, r.Revision)
	}
	if why := t.differs(r.Prefix, r.Versions, r.Revision); why != "" {
		return WrongRead, why
	}
	return "", ""
}

// get checks the response to a GET. It has only the object's own revision, so the response must be correct at some
// revision within the bounds.
func get(t *timeline, r *Read, least, most int64) (Rule, string) {
	stale := false
	for _, s := range t.versions(r.Key) {
		fits := s.object == nil && len(r.Versions) == 0 ||
			len(r.Versions) == 1 && t.wrong(r.Versions[0], s.from) == "" && s.from == r.Versions[0].Revision
		switch {
		case !fits || s.from > most:
		case s.to > least:
			return "", ""
		default:
			stale = true
		}
	}
	if stale {
		return StaleRead, fmt.Sprintf("the %s get of %s is older than %d, which was known", r.Mode, r.Key, least)
	}
	const format = "the %s get of %s shows %v, which isn't so from %d to %d"
	return WrongRead, fmt.Sprintf(format, r.Mode, r.Key, r.Versions, least, most)
}

// gone checks that the history has a reason for a 410.
func gone(h *History, r *Read) (Rule, string) {
	if r.Mode == Exact && compacted(h, r.Span.End) > r.Asked {
		return "", ""
	}
	return UnexplainedGone, fmt.Sprintf("the %s read at %d", r.Mode, r.Asked)
}
