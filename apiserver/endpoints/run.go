package endpoints

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/inflight"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// run serves a request within the limit; 0 is none.
func (a *API) run(req *request, limit time.Duration) error {
	a.limits.CountIn(req.r, req.User)
	// Also for reads: a body is read before the answer begins, or the body's deadline would end the answer.
	if req.mediaServed() {
		var release func()
		var err error
		unused := req.verb == "get" || req.verb == "list" || req.verb == "watch" // a watch would hold the memory
		req.r, req.held, release, err = a.limits.ReadBody(req.r, req.User, unused)
		if err != nil {
			return err
		}
		defer release()
	}
	exchange.Of(req.r).HeadRead()
	if req.Resource.Deprecated != "" {
		req.Warn.Add(req.Resource.Deprecated)
		req.annotateDeprecated()
	}
	if limit > 0 { // the wait for a seat counts (AS pkg/server/config.go: DefaultBuildHandlerChain)
		ctx, cancel := exchange.WithTimeout(req.r.Context(), limit)
		defer cancel()
		req.r = req.r.WithContext(ctx)
	}
	if req.Resource.Bind != nil {
		req.Resource = req.Resource.During(req.r.Context())
		req.memory.MayWait(convertedPart)
	}
	defer req.release()
	exchange.Of(req.r).Hold(&req.memory)
	if err := a.charge(req); err != nil {
		return err
	}
	return a.serve(req)
}

// serve runs a request in its seat, and what it deferred in another.
func (a *API) serve(req *request) error {
	err := a.seat(req, func() error { return a.verb(req) })
	for err == errDeferred {
		err = req.memory.Reserve(req.r, req.wants, 0)
		switch {
		case err == nil:
			err = a.seat(req, req.rest)
		case req.without != nil:
			return req.without()
		}
	}
	return err
}

// seat runs serve in the request's seat.
func (a *API) seat(req *request, serve func() error) error {
	ask := inflight.Ask{Attributes: req.info.Attributes(), Objects: req.objects()}
	if req.verb == "watch" {
		return a.limits.SeatWatch(req.w, req.r, ask, func(begun func()) error {
			req.begun = begun
			return serve()
		})
	}
	return a.limits.Seat(req.w, req.r, ask, func() error {
		serving := a.inFlight(req.verb)
		serving.Inc()
		defer serving.Dec()
		if req.held != nil && !req.held.Serve() {
			return status.ErrBusy
		}
		return serve()
	})
}

// objects returns a function for the number of objects that a list shows, or a watch that begins with all; nil for
// other requests.
func (req *request) objects() func() int {
	if req.Resource.Collection == "" ||
		req.verb != "list" && (req.verb != "watch" || exchange.Query(req.r).Get("sendInitialEvents") != "true") {
		return nil
	}
	return func() int { return req.api.countOf(req) }
}

// inFlight is the number of requests of the kind of verb that are being served.
func (a *API) inFlight(verb string) prometheus.Gauge {
	if verb == "get" || verb == "list" {
		return a.metrics.ReadOnly
	}
	return a.metrics.Mutating
}

// countOf is the number of objects that a list reads.
func (a *API) countOf(req *request) int {
	snapshot, err := a.registry.Cache.Snapshot(req.Resource.Collection, 0)
	if err != nil {
		return 0
	}
	prefix := req.Key(a.registry.Root)
	return snapshot.Count(prefix, prefix)
}

// verb calls the handler in the file of that name.
func (a *API) verb(req *request) error {
	if req.Subresource != nil {
		if h := subresourceVerbs[req.Subresource.Action]; h != nil {
			return h(a, req)
		}
	}
	switch req.verb {
	case "create":
		return a.serveCreate(req)
	case "get":
		return a.serveGet(req)
	case "list":
		return a.serveList(req)
	case "watch":
		return a.serveWatch(req)
	case "update":
		return a.serveUpdate(req)
	case "patch":
		return a.servePatch(req)
	case "delete":
		return a.serveDelete(req)
	case "deletecollection":
		return a.serveDeleteCollection(req)
	}
	return status.ErrNoMethod
}

// subresourceVerbs carry out the subresources that are more than a part of their object.
var subresourceVerbs = map[resources.Action]func(*API, *request) error{
	resources.Scale:  (*API).serveScale,
	resources.ByHook: (*API).servePost,
}
