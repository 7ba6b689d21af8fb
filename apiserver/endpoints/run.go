package endpoints

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// run serves a request within the limit; 0 is none. It reads the body before the request has its seats, so that a
// client that is slow to send holds none.
func (a *API) run(req *request, limit time.Duration) error {
	if req.Resource.Deprecated != "" {
		req.Warn.Add(req.Resource.Deprecated)
		req.annotateDeprecated()
	}
	if limit > 0 { // the wait for seats counts (AS pkg/server/config.go: DefaultBuildHandlerChain)
		ctx, cancel := context.WithTimeout(req.r.Context(), limit)
		defer cancel()
		req.r = req.r.WithContext(ctx)
	}
	if req.Resource.Bind != nil {
		req.Resource = req.Resource.During(req.r.Context())
	}
	if err := req.readBody(); err != nil {
		return err
	}
	release, err := req.acquire(a.writeCost(req))
	if err != nil {
		return err
	}
	defer release()
	return a.seat(req, func() error { return a.verb(req) })
}

// acquire takes bytes of memory until release is called.
func (req *request) acquire(bytes int64) (release func(), err error) {
	return req.api.memory.Acquire(req.r.Context(), req.User.Name, bytes)
}

// seat runs serve in the request's seats.
func (a *API) seat(req *request, serve func() error) error {
	ask := flowcontrol.Request{Attributes: req.info.Attributes(), Objects: req.objects()}
	if req.verb == "watch" {
		return a.seats.ServeWatch(req.w, req.r, ask, func(begun func()) error {
			req.begun = begun
			return serve()
		})
	}
	return a.seats.Serve(req.w, req.r, ask, func() error {
		serving := a.inFlight(req.verb)
		serving.Inc()
		defer serving.Dec()
		return serve()
	})
}

// objects returns a function for the number of objects that a list shows, or a watch that begins with all; nil for
// other requests.
func (req *request) objects() func() int {
	if req.Resource.Collection == "" ||
		req.verb != "list" && (req.verb != "watch" || requestinfo.Query(req.r).Get("sendInitialEvents") != "true") {
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
