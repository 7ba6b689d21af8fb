package filters

import (
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/inflight"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// routes has contexts for the router, which would else copy each request to give it one. As chi does, a request whose
// handler panics leaves its context to the garbage collector.
var routes = sync.Pool{New: func() any { return chi.NewRouteContext() }}

// Begin begins a request in its turn, records its answer, and releases the request's headers when the handler has
// returned: over HTTP/2 net/http keeps them until the client has read the answer.
func Begin(limits *inflight.Limits, stall time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			err := limits.Wait(r) // before anything else, which would take memory
			if err != nil {
				if err == status.ErrBusy {
					dismiss(w, r)
				}
				return
			}
			rec := exchange.New(w, stall)
			limits.Begin(rec)
			defer rec.Close()
			route := routes.Get().(*chi.Context)
			recorded := rec.Record(r)
			rec.Know(chi.RouteCtxKey, route)
			next.ServeHTTP(rec, recorded)
			route.Reset()
			routes.Put(route)
			rec.EndTurn()
			if r.ProtoMajor == 2 {
				r.Header, r.URL, r.RequestURI = nil, nil, ""
				rec.Sample(exchange.ConnectionOf(r))
			}
		})
	}
}

// dismiss answers 429 without a body, which the client might leave unread. It does not wait for the request's body.
func dismiss(w http.ResponseWriter, r *http.Request) {
	if exchange.HasBody(r) {
		if r.ProtoMajor < 2 {
			w.Header().Set("Connection", "close")
		}
		exchange.NewBody(w, r, time.Now().Add(exchange.HeadPatience))
	}
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusTooManyRequests)
}
