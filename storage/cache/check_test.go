package cache

import (
	"fmt"
)

// check returns the first invariant of log that doesn't hold.
func (g *log) check(l limits) error {
	segments := append(append([]*segment(nil), g.sealed...), &g.open)
	next, rev, bytes := g.first, g.floor, int64(0)
	for i, s := range segments {
		if s.first != next {
			return fmt.Errorf("segment %d begins with event %d, not %d", i, s.first, next)
		}
		if len(s.events) == 0 && i < len(g.sealed) {
			return fmt.Errorf("segment %d is sealed and empty", i)
		}
		held := int64(0)
		for _, e := range s.events {
			if e.Revision <= rev {
				return fmt.Errorf("event of revision %d after %d", e.Revision, rev)
			}
			rev, held = e.Revision, held+e.held()
		}
		if s.bytes != held {
			return fmt.Errorf("segment %d holds %d bytes, not %d", i, held, s.bytes)
		}
		next, bytes = next+uint64(len(s.events)), bytes+held
	}
	switch {
	case next != g.end:
		return fmt.Errorf("events end before %d, not %d", next, g.end)
	case bytes != g.bytes:
		return fmt.Errorf("log holds %d bytes, not %d", bytes, g.bytes)
	case g.length() > l.events || g.bytes > l.bytes && len(g.sealed) > 0:
		return fmt.Errorf("log of %d events, %d bytes exceeds %+v", g.length(), g.bytes, l)
	}
	return nil
}

// check returns the first invariant of the present state that doesn't hold.
func (c *Cache) check() error {
	s := c.state.Load()
	if err := s.versions[timeline].log.check(c.line); err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	events, bytes, droppable := 0, int64(0), false
	for i, v := range s.versions[timeline+1:] {
		if s.places[v.name] != timeline+1+i {
			return fmt.Errorf("%s is not in its place", v.name)
		}
		if err := v.log.check(c.each); err != nil {
			return fmt.Errorf("%s: log: %w", v.name, err)
		}
		if v.log.floor < s.base || v.log.floor > s.revision {
			return fmt.Errorf("%s: floor %d not between %d and %d", v.name, v.log.floor, s.base, s.revision)
		}
		if err := v.checkNewest(); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		events, bytes = events+v.log.length(), bytes+v.log.bytes
		droppable = droppable || len(v.log.sealed) > 0
	}
	if droppable && (events > c.whole.events || bytes > c.whole.bytes) {
		return fmt.Errorf("%d events, %d bytes in all exceed %+v", events, bytes, c.whole)
	}
	return nil
}

// checkNewest checks that the newest event of every key in the log is what the tree shows.
func (v *version) checkNewest() error {
	seen := map[string]bool{}
	for i := v.log.end; i > v.log.first; i-- {
		e := v.log.run(i - 1)[0]
		if seen[e.Object.Key] {
			continue
		}
		seen[e.Object.Key] = true
		if o := v.objects.get(e.Object.Key); o != e.Object && !(o == nil && e.Type == Deleted) {
			return fmt.Errorf("newest event of %s is of revision %d, the tree has %v", e.Object.Key, e.Revision, o)
		}
	}
	return nil
}
