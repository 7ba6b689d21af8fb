package check

import "fmt"

// writes checks each write against etcd.
func writes(h *History, t *timeline, f *frontier) []Violation {
	var out []Violation
	for _, w := range h.Writes {
		rule, what := write(t, f, w)
		if rule == "" {
			continue
		}
		shown := append([]string{w.String()}, t.around(w.Key, max(w.Revision, w.Over))...)
		if rule == OldWrite {
			shown = append(shown, fmt.Sprint(before(f.seen, w.Begin).by))
		}
		out = append(out, Violation{rule, what, shown})
	}
	return out
}

// write returns the rule that a write violates, or an empty one.
func write(t *timeline, f *frontier, w *Write) (Rule, string) {
	switch {
	case w.Outcome == Rejected && w.Verb != Delete:
		if e := t.tokens[w.Token]; e != nil {
			return RejectedWrite, fmt.Sprintf("%s of %s is at %d", w.Verb, w.Key, e.Revision)
		}
		return "", ""
	case w.Outcome != Acknowledged:
		return "", ""
	case w.Verb == Delete:
		if t.gone[w.UID] == nil {
			return LostWrite, fmt.Sprintf("%s (%s) was deleted and is neither gone nor terminating", w.Key, w.UID)
		}
		return "", ""
	}
	if e := t.event(w.Revision); e == nil || e.Key != w.Key || e.Object == nil || e.Object.Token != w.Token {
		return LostWrite, fmt.Sprintf("%s of %s isn't at %d", w.Verb, w.Key, w.Revision)
	}
	old := t.at(w.Key, w.Revision-1)
	switch {
	case w.Verb == Create && old.object != nil, w.Verb != Create && old.object == nil, w.Over > 0 && old.from != w.Over:
		return LostUpdate, fmt.Sprintf("%s of %s over %d replaced %d", w.Verb, w.Key, w.Over, old.from)
	}
	if s := before(f.seen, w.Begin); s.revision >= w.Revision {
		return OldWrite, fmt.Sprintf("%s of %s is at %d, %d was known", w.Verb, w.Key, w.Revision, s.revision)
	}
	return "", ""
}
