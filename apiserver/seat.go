package apiserver

import (
	"context"
	"errors"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
)

// seat runs serve when the request has its seat, by API Priority and Fairness, or rejects it (429 with Retry-After).
// Watches take none.
func (s *Server) seat(q *request, serve func() error) (err error) {
	if q.verb == "watch" {
		return serve()
	}
	s.flows.CatchUp()
	a := attributesFor(q.user, q.target, q.verb)
	a.Path = q.r.URL.Path
	var objects func() int
	if q.verb == "list" && q.res.Collection != "" {
		objects = func() int { return s.countOf(q) }
	}
	classified := func(c flowcontrol.Class) {
		if h := q.w.Header(); c.SchemaUID != "" && c.LevelUID != "" { // both are stored
			h.Set(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID, string(c.SchemaUID))
			h.Set(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID, string(c.LevelUID))
		}
	}
	ok := s.flow.Handle(q.r.Context(), a, objects, classified, func() {
		defer s.inFlight(q.verb)()
		if q.held != nil && !q.held.serve() {
			err = errBusy
			return
		}
		err = serve()
	})
	if !ok && errors.Is(context.Cause(q.r.Context()), context.DeadlineExceeded) {
		return q.r.Context().Err() // the request's own time is over
	}
	if !ok {
		return errBusy
	}
	return err
}

// inFlight counts a request that is being served; done counts its end.
func (s *Server) inFlight(verb string) (done func()) {
	kind := "mutating"
	if verb == "get" || verb == "list" {
		kind = "readOnly"
	}
	g := s.metrics.inFlight.WithLabelValues(kind)
	g.Inc()
	return g.Dec
}

// countOf is how many objects are stored where a list looks for them.
func (s *Server) countOf(q *request) int {
	snapshot, err := s.cache.Snapshot(q.res.Collection, 0)
	if err != nil {
		return 0
	}
	prefix := q.key(s.root)
	return snapshot.Count(prefix, prefix)
}
