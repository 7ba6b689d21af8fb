package endpoints

import (
	"time"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/inflight"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// run serves a request within the limit; 0 is none.
func (a *API) run(q *request, limit time.Duration) error {
	a.limits.CountIn(q.r, q.User)
	// Also for reads: a body is read before the answer begins, or the body's deadline would end the answer.
	if q.mediaServed() {
		var release func()
		var err error
		unused := q.verb == "get" || q.verb == "list" || q.verb == "watch" // a watch would hold the memory
		q.r, q.held, release, err = a.limits.ReadBody(q.r, q.User, unused)
		if err != nil {
			return err
		}
		defer release()
	}
	exchange.Of(q.r).HeadRead()
	if q.Resource.Deprecated != "" {
		q.Warn.Add(q.Resource.Deprecated)
		q.annotateDeprecated()
	}
	if limit > 0 { // the wait for a seat counts (AS pkg/server/config.go: DefaultBuildHandlerChain)
		ctx, cancel := exchange.WithTimeout(q.r.Context(), limit)
		defer cancel()
		q.r = q.r.WithContext(ctx)
	}
	defer q.release()
	if err := a.charge(q); err != nil {
		return err
	}
	return a.serve(q)
}

// serve runs a request in its seat, and what it deferred in another.
func (a *API) serve(q *request) error {
	err := a.seat(q, func() error { return a.verb(q) })
	for err == errDeferred {
		err = q.memory.Reserve(q.r, q.wants, 0)
		switch {
		case err == nil:
			err = a.seat(q, q.rest)
		case q.without != nil:
			return q.without()
		}
	}
	return err
}

// seat runs serve in the request's seat.
func (a *API) seat(q *request, serve func() error) error {
	ask := inflight.Ask{Attributes: q.info.Attributes(), Objects: q.objects()}
	if q.verb == "watch" {
		return a.limits.SeatWatch(q.w, q.r, ask, func(begun func()) error {
			q.begun = begun
			return serve()
		})
	}
	return a.limits.Seat(q.w, q.r, ask, func() error {
		defer a.inFlight(q.verb)()
		if q.held != nil && !q.held.Serve() {
			return status.ErrBusy
		}
		return serve()
	})
}

// objects returns a function for the number of objects that a list shows, or a watch that begins with all; nil for
// other requests.
func (q *request) objects() func() int {
	if q.Resource.Collection == "" ||
		q.verb != "list" && (q.verb != "watch" || exchange.Query(q.r).Get("sendInitialEvents") != "true") {
		return nil
	}
	return func() int { return q.api.countOf(q) }
}

// inFlight counts a request that is being served; done counts its end.
func (a *API) inFlight(verb string) (done func()) {
	kind := "mutating"
	if verb == "get" || verb == "list" {
		kind = "readOnly"
	}
	g := a.metrics.InFlight.WithLabelValues(kind)
	g.Inc()
	return g.Dec
}

// countOf is the number of objects that a list reads.
func (a *API) countOf(q *request) int {
	snapshot, err := a.registry.Cache.Snapshot(q.Resource.Collection, 0)
	if err != nil {
		return 0
	}
	prefix := q.Key(a.registry.Root)
	return snapshot.Count(prefix, prefix)
}

// verb calls the handler in the file of that name.
func (a *API) verb(q *request) error {
	if q.Subresource != nil {
		if h := subresourceVerbs[q.Subresource.Action]; h != nil {
			return h(a, q)
		}
	}
	switch q.verb {
	case "create":
		return a.serveCreate(q)
	case "get":
		return a.serveGet(q)
	case "list":
		return a.serveList(q)
	case "watch":
		return a.serveWatch(q)
	case "update":
		return a.serveUpdate(q)
	case "patch":
		return a.servePatch(q)
	case "delete":
		return a.serveDelete(q)
	case "deletecollection":
		return a.serveDeleteCollection(q)
	}
	return status.ErrNoMethod
}

// subresourceVerbs carry out the subresources that are more than a part of their object.
var subresourceVerbs = map[resources.Action]func(*API, *request) error{
	resources.Scale:  (*API).serveScale,
	resources.ByHook: (*API).servePost,
}
