package check

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// sight is a revision that a client knew at a time, with the request that showed it.
type sight struct {
	at       time.Duration
	revision int64
	by       any
}

// frontier has the revisions that were known at each time.
type frontier struct {
	// seen has ascending times, each with the greatest revision known so far. next has the begins of writes, each with
	// the smallest revision of this and later writes.
	seen, next []sight
	// shown is seen for each server process.
	shown map[string][]sight
}

func newFrontier(h *History, t *timeline) *frontier {
	f := &frontier{shown: map[string][]sight{}, seen: []sight{{-1, 0, "the start of the history"}}}
	show := func(server string, at time.Duration, revision int64, by any) {
		s := sight{at, revision, by}
		f.seen = append(f.seen, s)
		f.shown[server] = append(f.shown[server], s)
	}
	for _, w := range h.Writes {
		if rev := effect(t, w); w.Outcome == Acknowledged && rev > 0 {
			f.seen = append(f.seen, sight{w.End, rev, w})
			if w.Revision > 0 { // the effect of a deletion may be that of an earlier deletion
				f.next = append(f.next, sight{w.Begin, rev, w})
			}
		}
	}
	for _, r := range h.Reads {
		rev := r.Revision
		for _, v := range r.Versions {
			rev = max(rev, v.Revision)
		}
		if rev > 0 {
			show(r.Server, r.End, rev, r)
		}
	}
	for _, w := range h.Watchers {
		for _, s := range w.Steps {
			if s.Kind != Expired && s.Version.Revision > 0 {
				show(s.Server, s.At, s.Version.Revision, s)
			}
		}
	}
	f.seen = rising(f.seen)
	for server, seen := range f.shown {
		f.shown[server] = rising(seen)
	}
	slices.SortStableFunc(f.next, byTime)
	for i := len(f.next) - 2; i >= 0; i-- {
		f.next[i].revision = min(f.next[i].revision, f.next[i+1].revision)
	}
	return f
}

// effect returns the revision of an acknowledged write's event in etcd, or 0 if there is none.
func effect(t *timeline, w *Write) int64 {
	if w.Verb != Delete {
		return w.Revision
	}
	if e := t.gone[w.UID]; e != nil {
		return e.Revision
	}
	return 0
}

func byTime(a, b sight) int { return cmp.Compare(a.at, b.at) }

// rising returns the sights, by time, whose revision is greater than that of all earlier ones.
func rising(all []sight) []sight {
	slices.SortStableFunc(all, byTime)
	out := all[:0]
	for _, s := range all {
		if len(out) == 0 || s.revision > out[len(out)-1].revision {
			out = append(out, s)
		}
	}
	return out
}

func before(seen []sight, at time.Duration) sight {
	i := sort.Search(len(seen), func(i int) bool { return seen[i].at >= at })
	if i == 0 {
		return sight{}
	}
	return seen[i-1]
}

// bounds returns the oldest revision that a read must have seen, and the newest one that it can have seen.
func (f *frontier) bounds(r *Read) (least sight, most int64) {
	switch r.Mode {
	case Default:
		least = before(f.seen, r.Begin)
	case AtLeast:
		least = sight{revision: r.Asked}
	case Cached:
		least = before(f.shown[r.Server], r.Begin)
	}
	most = math.MaxInt64
	if i := sort.Search(len(f.next), func(i int) bool { return f.next[i].at > r.End }); i < len(f.next) {
		most = f.next[i].revision - 1
	}
	return least, most
}
