package exchange

import (
	"context"
	"net/http"
)

// scope is the context of a request, with its Recorder and what Know has added. It is one for all of them: with a
// context for each, every lookup would pass through the others, and each would cost a copy of the request.
type scope struct {
	context.Context
	rec   *Recorder
	known []fact
	// first is where known begins.
	first [2]fact
}

// fact is a key of contexts with its value.
type fact struct{ key, value any }

type recorderKey struct{}

// Value implements context.Context.
func (s *scope) Value(key any) any {
	if key == (recorderKey{}) {
		return s.rec
	}
	for i := range s.known {
		if s.known[i].key == key {
			return s.known[i].value
		}
	}
	return s.Context.Value(key)
}

// Record returns the request with the Recorder in its context.
func (w *Recorder) Record(r *http.Request) *http.Request {
	w.scope = scope{Context: r.Context(), rec: w}
	w.scope.known = w.scope.first[:0]
	return r.WithContext(&w.scope)
}

// Know adds a value to the context of the request that Record has returned, as context.WithValue does for the context
// that it returns. A key has one value. Filters call it, before there are other goroutines that look at the context.
func (w *Recorder) Know(key, value any) {
	w.scope.known = append(w.scope.known, fact{key, value})
}

// Of returns the Recorder of a request; nil if it has none.
func Of(r *http.Request) *Recorder { return In(r.Context()) }

// In returns the Recorder in a context.
func In(ctx context.Context) *Recorder {
	rec, _ := ctx.Value(recorderKey{}).(*Recorder)
	return rec
}
