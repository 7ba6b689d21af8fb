package pace

import (
	"testing"
	"time"
)

// TestBeat: a process has frequent timers for a second after each second in which it has allocated much.
func TestBeat(t *testing.T) {
	var b beat
	var now time.Duration
	allocated, looks := uint64(0), 0
	look := func() uint64 { looks++; return allocated }
	timers := func(until time.Duration, each uint64) (fired int) {
		for now < until {
			allocated += each
			now += b.next(look)
			fired++
		}
		return fired
	}
	for _, c := range []struct {
		what         string
		each         uint64 // how much is allocated before each timer, in bytes
		timers, look int    // in the next second
	}{
		{"at rest", works, 1, 1},
		{"it begins to work", works + 1, 100, 1},
		{"it works", works/100 + 1, 100, 1},
		{"it works little", works / 100, 100, 1}, // it has worked before
		{"it has worked little", 0, 1, 1},
	} {
		looks = 0
		if fired := timers(now+lookEvery, c.each); fired != c.timers || looks != c.look {
			t.Errorf("%s: %d timers and %d looks", c.what, fired, looks)
		}
	}
}
