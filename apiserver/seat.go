package apiserver

import (
	"context"
	"errors"
	"net/http"
	"sync"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// seat runs serve when the request has its seat, by API Priority and Fairness, or rejects it (429 with Retry-After). A
// watch gives its seat back when it has sent its initial events (AS pkg/server/filters/priority-and-fairness.go).
func (s *Server) seat(q *request, serve func() error) (err error) {
	if q.verb == "watch" {
		return s.seatWatch(q, serve)
	}
	rec := exchange.Of(q.r)
	if err := s.takeTurn(rec, q.r); err != nil {
		return err
	}
	ok := s.flow.Handle(q.r.Context(), q.asks(), func(seat *flowcontrol.Seat) {
		defer s.inFlight(q.verb)()
		rec.Sit(seat)
		if q.held != nil && !q.held.Serve() || !rec.ServeHead() {
			err = status.ErrBusy
			return
		}
		err = serve()
	})
	if !ok {
		return rejected(q.r.Context())
	}
	return err
}

// seatWatch runs serve, which holds the seat until it calls q.begun.
func (s *Server) seatWatch(q *request, serve func() error) error {
	seated, begun, ended := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	rec := exchange.Of(q.r)
	if err := s.takeTurn(rec, q.r); err != nil {
		return err
	}
	ctx, asks := q.r.Context(), q.asks()
	go func() {
		ended <- s.flow.Handle(ctx, asks, func(seat *flowcontrol.Seat) {
			rec.Sit(seat)
			close(seated)
			<-begun
		})
	}()
	select {
	case <-seated:
	case <-ended:
		return rejected(ctx)
	}
	q.begun = sync.OnceFunc(func() {
		close(begun)
		<-ended
		rec.Sit(nil)
	})
	defer q.begun()
	return serve()
}

// seated is seat for paths that are no resource's.
func (s *Server) seated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.flows.CatchUp()
		user := userOf(r)
		rec := exchange.Of(r)
		rec.CountIn(s.unread.Of(user), user.Name)
		a, ok := r.Context().Value(attributesKey{}).(*auth.Attributes)
		if !ok {
			a = attributesOf(r)
		}
		asks := flowcontrol.Request{Attributes: a, Classified: shownIn(w.Header()), Waits: rec.EndTurn}
		if !s.flow.Handle(r.Context(), asks, func(seat *flowcontrol.Seat) {
			if rec.Sit(seat); !rec.ServeHead() {
				s.writeError(w, r, status.ErrBusy)
				return
			}
			next.ServeHTTP(w, r)
		}) {
			s.writeError(w, r, rejected(r.Context()))
		}
	})
}

// asks is what a request asks for seats by. What is in force is up to date with the cache.
func (q *request) asks() flowcontrol.Request {
	q.s.flows.CatchUp()
	a := attributesFor(q.User, q.Target, q.verb)
	a.Path = q.r.URL.Path
	return flowcontrol.Request{
		Attributes: a, Objects: q.objects(), Classified: shownIn(q.w.Header()), Waits: exchange.Of(q.r).EndTurn,
	}
}

// objects tells how many objects a list shows, or a watch that begins with all there are; nil for other requests.
func (q *request) objects() func() int {
	if q.Resource.Collection == "" || q.verb != "list" && (q.verb != "watch" || exchange.Query(q.r).Get("sendInitialEvents") != "true") {
		return nil
	}
	return func() int { return q.s.countOf(q) }
}

// The headers that tell how a request was classified, in the form that http.Header has.
var (
	schemaHeader = http.CanonicalHeaderKey(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID)
	levelHeader  = http.CanonicalHeaderKey(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID)
)

// shownIn returns what tells the client how its request was classified.
func shownIn(h http.Header) func(flowcontrol.Class) {
	return func(c flowcontrol.Class) {
		if c.SchemaUID != "" && c.LevelUID != "" { // both are stored
			h[schemaHeader], h[levelHeader] = []string{string(c.SchemaUID)}, []string{string(c.LevelUID)}
		}
	}
}

// rejected is why a request had no seat: the server is busy, or the request's own time is over.
func rejected(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return status.ErrBusy
}

// inFlight counts a request that is being served; done counts its end.
func (s *Server) inFlight(verb string) (done func()) {
	kind := "mutating"
	if verb == "get" || verb == "list" {
		kind = "readOnly"
	}
	g := s.metrics.InFlight.WithLabelValues(kind)
	g.Inc()
	return g.Dec
}

// countOf is how many objects are stored where a list looks for them.
func (s *Server) countOf(q *request) int {
	snapshot, err := s.registry.Cache.Snapshot(q.Resource.Collection, 0)
	if err != nil {
		return 0
	}
	prefix := q.Key(s.registry.Root)
	return snapshot.Count(prefix, prefix)
}
