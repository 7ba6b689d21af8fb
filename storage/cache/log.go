package cache

import "sort"

// parts is the number of segments of a full log; whole segments are dropped.
const parts = 64

type limits struct {
	events int
	bytes  int64
}

// log is recent history: the newest events of one collection, or of all. It is a value: append and drop make a later
// version, and the earlier versions, which share segments with it, stay valid. One goroutine at a time makes later
// versions, only from the latest one.
//
// Events are numbered in sequence. A reader only has the number of its next event.
//
// Invariants:
//
//	open and sealed hold the events first..end-1, ascending in Revision
//	every event with Revision > floor is held; none with Revision <= floor, unless another has its revision
type log struct {
	first, end uint64
	// floor is the revision after which history begins.
	floor int64
	// bytes is the sum of Event.held.
	bytes  int64
	sealed []*segment
	// open is the segment that grows. All copies share its array: elements beyond a copy's length may be written while
	// others read that copy.
	open segment
}

// segment is a sequence of events whose numbers begin with first.
type segment struct {
	first  uint64
	events []*Event
	// bytes is the sum of Event.held; weight that of all JSON that the events refer to.
	bytes, weight int64
}

// newLog returns an empty log for history after floor.
func newLog(next uint64, floor int64) log {
	return log{first: next, end: next, floor: floor, open: segment{first: next}}
}

// append adds an event. It drops and returns the events that exceed the limits, but never the newest segment: watchers
// that wait for an event must see it, even if it alone exceeds the limits.
func (g *log) append(e *Event, l limits) (dropped []*Event) {
	if len(g.open.events) >= max(1, l.events/parts) || g.open.weight >= max(1, l.bytes/parts) {
		g.seal()
	}
	g.open.events = append(g.open.events, e)
	g.end++
	held := e.held()
	g.open.bytes += held
	g.bytes += held
	g.open.weight += int64(len(e.Object.JSON)) + held
	for (g.length() > l.events || g.bytes > l.bytes) && len(g.sealed) > 0 {
		dropped = append(dropped, g.drop()...)
	}
	return dropped
}

// seal closes the open segment. The list is copied so that dropped segments become garbage.
func (g *log) seal() {
	s := g.open
	g.sealed = append(append(make([]*segment, 0, len(g.sealed)+1), g.sealed...), &s)
	g.open = segment{first: g.end}
}

// drop drops the oldest sealed segment, and returns its events. There must be one.
func (g *log) drop() []*Event {
	s := g.sealed[0]
	g.sealed = g.sealed[1:]
	g.first += uint64(len(s.events))
	g.bytes -= s.bytes
	g.floor = s.events[len(s.events)-1].Revision
	return s.events
}

func (g *log) length() int { return int(g.end - g.first) }

// run returns the events from seq to the end of its segment; first <= seq <= end.
func (g *log) run(seq uint64) []*Event {
	s := &g.open
	if seq < s.first {
		s = g.sealed[sort.Search(len(g.sealed), func(i int) bool { return g.sealed[i].first > seq })-1]
	}
	return s.events[seq-s.first:]
}

// minRun is the number of events of one segment that read returns without those of the next segment.
const minRun = 64

// read returns up to most events from seq on, and none only if seq is end. Usually the slice is a part of a segment
// that watchers share, and must not be modified. If the rest of a segment is short, read copies it together with the
// next.
func (g *log) read(seq uint64, most int) []*Event {
	run, want := g.run(seq), int(min(uint64(most), g.end-seq))
	if n := min(len(run), want); n == want || n >= minRun {
		return run[:n:n]
	}
	joined := append(make([]*Event, 0, min(want, 2*minRun)), run...)
	for len(joined) < want && len(joined) < minRun {
		run = g.run(seq + uint64(len(joined)))
		joined = append(joined, run[:min(len(run), want-len(joined), 2*minRun-len(joined))]...)
	}
	return joined
}

// after returns the number of the first event with Revision > rev; end if there is none.
func (g *log) after(rev int64) uint64 {
	i := sort.Search(len(g.sealed), func(i int) bool {
		s := g.sealed[i].events
		return s[len(s)-1].Revision > rev
	})
	s := &g.open
	if i < len(g.sealed) {
		s = g.sealed[i]
	}
	return s.first + uint64(sort.Search(len(s.events), func(i int) bool { return s.events[i].Revision > rev }))
}

// complete returns the revision up to which a reader has seen all events, if seq is its next event and the timeline is
// at now.
func (g *log) complete(seq uint64, now int64) int64 {
	if seq < g.end {
		return g.run(seq)[0].Revision - 1
	}
	return now
}

// back returns those of the events seq..end-1 that are in the same segment as event end-1; seq < end.
func (g *log) back(end, seq uint64) []*Event {
	s := &g.open
	if end <= s.first {
		s = g.sealed[sort.Search(len(g.sealed), func(i int) bool { return g.sealed[i].first >= end })-1]
	}
	return s.events[max(seq, s.first)-s.first : end-s.first]
}
