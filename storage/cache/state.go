package cache

import (
	"maps"
	"slices"
)

// state is everything that a reader can see, at one revision of the timeline. It is immutable and consistent: a reader
// loads it once and needs no lock.
type state struct {
	// revision is the revision of the timeline, 0 before the first batch.
	revision int64
	// base is the revision of the last batch with Reset or Cut; there is no history before it.
	base int64
	// places has the index of each collection's version in versions.
	places map[string]int
	// versions has the timeline at index 0 and then the collections, in the order in which they were first seen. None
	// is ever removed, so an index stays valid.
	versions []*version
	// next is closed when a later state is published.
	next chan struct{}
}

// timeline is the index of the log of all collections; its objects are nil.
const timeline = 0

// token identifies a draft, without keeping it in memory. It has a size because Go may give all values of size 0 the
// same address.
type token struct{ _ byte }

// version is one collection in a state.
type version struct {
	// owner is the draft that may still change it.
	owner   *token
	name    string
	objects *tree
	log     log
	// changed is closed when a version with new events, or without the old history, is published.
	changed chan struct{}
}

func newState() *state {
	return &state{
		places:   map[string]int{},
		versions: []*version{{log: newLog(0, 0), changed: make(chan struct{})}},
		next:     make(chan struct{}),
	}
}

// version returns a collection, or nil if it was never seen.
func (s *state) version(collection string) *version {
	if i, ok := s.places[collection]; ok {
		return s.versions[i]
	}
	return nil
}

// draft is the next state while it is made; no reader sees it before it is published. The state is separate so that the
// draft does not keep the previous state in memory.
type draft struct {
	*state
	from  *state
	token *token
	ended []chan struct{}
	// stale are the objects and events whose encodings are dropped when the draft is published.
	stale []any
}

func (s *state) draft() *draft {
	c := *s
	c.next, c.versions = make(chan struct{}), slices.Clone(s.versions)
	return &draft{state: &c, from: s, token: new(token), ended: []chan struct{}{s.next}}
}

// own returns a version that may be changed.
func (d *draft) own(place int) *version {
	v := d.versions[place]
	if v.owner == d.token {
		return v
	}
	c := *v
	c.owner = d.token
	if place != timeline {
		c.objects = v.objects.clone()
	}
	d.versions[place] = &c
	return &c
}

// wake makes publish wake the watchers of a version.
func (d *draft) wake(v *version, place int) {
	if place >= len(d.from.versions) || v.changed != d.from.versions[place].changed {
		return
	}
	d.ended = append(d.ended, v.changed)
	v.changed = make(chan struct{})
}

// place returns a collection's index. It adds an unknown collection, without objects and with a complete history since
// base.
func (d *draft) place(collection string) int {
	if i, ok := d.places[collection]; ok {
		return i
	}
	d.places = maps.Clone(d.places)
	i := len(d.versions)
	d.places[collection] = i
	d.versions = append(d.versions, &version{
		owner: d.token, name: collection, objects: newTree(), log: newLog(0, d.base), changed: make(chan struct{}),
	})
	return i
}

func (d *draft) record(place int, e *Event, l limits) *version {
	v := d.own(place)
	dropped := v.log.append(e, l)
	if place != timeline { // its events are in the collections' logs, too
		d.discard(dropped)
	}
	d.wake(v, place)
	return v
}

// discard marks events whose encodings are dropped when the draft is published.
func (d *draft) discard(dropped []*Event) {
	for _, e := range dropped {
		d.stale = append(d.stale, e)
	}
}

// restart replaces a collection's objects and drops its history. It skips a sequence number, so that readers of the old
// history get ErrExpired.
func (d *draft) restart(place int, objects *tree) {
	v := d.own(place)
	v.objects = objects
	v.log = newLog(v.log.end+1, d.base)
	d.wake(v, place)
}

// shed drops history of the largest collections until all of them together are within the limits. It wakes no watcher:
// those with unread events were woken before.
func (d *draft) shed(whole limits) {
	for {
		events, bytes := 0, int64(0)
		for _, v := range d.versions[timeline+1:] {
			events += v.log.length()
			bytes += v.log.bytes
		}
		if events <= whole.events && bytes <= whole.bytes {
			return
		}
		place := d.largest(bytes > whole.bytes)
		if place < 0 {
			return
		}
		d.discard(d.own(place).log.drop())
	}
}

// largest returns the index of the collection with the most bytes, or events, of history among those that can drop
// some; -1 if there is none.
func (d *draft) largest(byBytes bool) int {
	place, most := -1, int64(-1)
	for i, v := range d.versions[timeline+1:] {
		size := int64(v.log.length())
		if byBytes {
			size = v.log.bytes
		}
		if len(v.log.sealed) > 0 && size > most {
			place, most = timeline+1+i, size
		}
	}
	return place
}
