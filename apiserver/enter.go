package apiserver

import (
	"slices"

	"github.com/kubecascade/kubecascade/apiserver/auth"
)

// reserve is the part of all places, one in so many, that only administrators take: they can always mend
// what a flood of others' requests does (AS pkg/server/filters/maxinflight.go, which gives them as many
// places as they like).
const reserve = 10

// places bound the requests that are being served, on all ports.
type places struct {
	// all holds one entry for each request, common one for each that isn't an administrator's.
	all, common chan struct{}
}

func newPlaces(n int) places {
	return places{make(chan struct{}, n), make(chan struct{}, n-n/reserve)}
}

// take takes a place; ok is false if there is none.
func (p places) take(u auth.User) (leave func(), ok bool) {
	from := []chan struct{}{p.common, p.all}
	if slices.Contains(u.Groups, auth.GroupMasters) {
		from = from[1:]
	}
	for i, c := range from {
		select {
		case c <- struct{}{}:
		default:
			free(from[:i])
			return nil, false
		}
	}
	return func() { free(from) }, true
}

func free(taken []chan struct{}) {
	for _, c := range taken {
		<-c
	}
}

// enter takes a place for a request, or refuses it (429 with Retry-After); leave gives the place
// back. Watches take none.
func (s *Server) enter(u auth.User, verb string) (leave func(), err error) {
	if verb == "watch" {
		return func() {}, nil
	}
	out, ok := s.places.take(u)
	if !ok {
		return nil, errBusy
	}
	kind := "mutating"
	if verb == "get" || verb == "list" {
		kind = "readOnly"
	}
	gauge := s.metrics.inFlight.WithLabelValues(kind)
	gauge.Inc()
	return func() {
		gauge.Dec()
		out()
	}, nil
}
