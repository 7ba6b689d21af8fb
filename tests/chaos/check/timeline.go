package check

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
)

// stretch is a version of a key. It was stored from the revision from until the revision before to. Object is nil while
// the key does not exist.
type stretch struct {
	from, to int64
	object   *Object
}

// timeline has etcd's content at each revision.
type timeline struct {
	events []Event
	keys   map[string][]stretch
	// names are the keys, sorted.
	names []string
	// tokens has the first event with each token. gone has the event that removed or began to remove each UID.
	tokens, gone map[string]*Event
}

func newTimeline(h *History) *timeline {
	t := &timeline{events: h.Events, keys: map[string][]stretch{}, tokens: map[string]*Event{}, gone: map[string]*Event{}}
	for i := range h.Events {
		t.add(&h.Events[i])
	}
	t.names = slices.Sorted(maps.Keys(t.keys))
	return t
}

func (t *timeline) add(e *Event) {
	versions := t.versions(e.Key)
	last := &versions[len(versions)-1]
	o, n := last.object, e.Object
	if o != nil && t.gone[o.UID] == nil && (n == nil || n.UID != o.UID || n.Terminating) {
		t.gone[o.UID] = e
	}
	if e.Object != nil && t.tokens[e.Object.Token] == nil {
		t.tokens[e.Object.Token] = e
	}
	last.to = e.Revision
	t.keys[e.Key] = append(versions, stretch{from: e.Revision, to: math.MaxInt64, object: e.Object})
}

// place returns the index of a key's version at a revision.
func (t *timeline) place(key string, revision int64) int {
	versions := t.keys[key]
	return sort.Search(len(versions), func(i int) bool { return versions[i].to > revision })
}

func (t *timeline) at(key string, revision int64) stretch {
	return t.versions(key)[t.place(key, revision)]
}

func (t *timeline) event(revision int64) *Event {
	byRevision := func(e Event, r int64) int { return cmp.Compare(e.Revision, r) }
	i, there := slices.BinarySearchFunc(t.events, revision, byRevision)
	if !there {
		return nil
	}
	return &t.events[i]
}

// differs describes the difference between versions of a collection and its state at a revision, or returns an empty
// string.
func (t *timeline) differs(prefix string, versions []Version, revision int64) string {
	seen := map[string]bool{}
	for _, v := range versions {
		if why := t.wrong(v, revision); why != "" {
			return why
		}
		if seen[v.Key] {
			return v.Key + " is there twice"
		}
		seen[v.Key] = true
	}
	i, _ := slices.BinarySearch(t.names, prefix)
	for ; i < len(t.names) && strings.HasPrefix(t.names[i], prefix); i++ {
		if s := t.at(t.names[i], revision); s.object != nil && !seen[t.names[i]] {
			return fmt.Sprintf("%s@%d is missing at %d", t.names[i], s.from, revision)
		}
	}
	return ""
}

// wrong describes the difference between a version and its key at a revision, or returns an empty string.
func (t *timeline) wrong(v Version, revision int64) string {
	s := t.at(v.Key, revision)
	switch {
	case s.object == nil:
		return fmt.Sprintf("%s isn't there at %d", v, revision)
	case s.from != v.Revision:
		return fmt.Sprintf("%s is at %d at %d", v, s.from, revision)
	case s.object.UID != v.UID || s.object.Token != v.Token:
		return fmt.Sprintf("%s has uid %s and token %s, not %s and %s", v, v.UID, v.Token, s.object.UID, s.object.Token)
	}
	return ""
}

// around returns a key's events near a revision, for a violation.
func (t *timeline) around(key string, revision int64) []string {
	var out []string
	versions, i := t.keys[key], t.place(key, revision)
	for _, s := range versions[max(0, i-2):min(len(versions), i+3)] {
		out = append(out, describe(key, s))
	}
	return out
}

func describe(key string, s stretch) string {
	if s.object == nil {
		return fmt.Sprintf("etcd %d: %s is not there", s.from, key)
	}
	o := s.object
	return fmt.Sprintf("etcd %d: %s uid=%s token=%s owners=%v terminating=%t finalizers=%v", s.from, key,
		o.UID, o.Token, o.Owners, o.Terminating, o.Finalizers)
}

func (t *timeline) versions(key string) []stretch {
	if v := t.keys[key]; v != nil {
		return v
	}
	return []stretch{{from: 0, to: math.MaxInt64}}
}
