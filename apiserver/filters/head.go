package filters

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/inflight"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/respond"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// longHead is from how many bytes a request's URL and headers count: net/http's buffers are no smaller than that.
const longHead = 16 << 10

// LongHead counts the memory of a long URL and long headers, like that of unread answers, until the request ends: while
// its body is read, and while it waits for a seat or for memory. A request that waits is ended if another user's needs
// the memory.
func LongHead(limits *inflight.Limits, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			bytes, rec := inflight.HeadMemory(r), exchange.Of(r)
			if bytes <= longHead || rec == nil {
				next.ServeHTTP(w, r)
				return
			}
			serveLongHead(limits, log, next, w, r, bytes)
		})
	}
}

// serveLongHead is a function of its own to keep the stack frames of other requests small: stacks are copied when they
// grow.
func serveLongHead(
	limits *inflight.Limits, log *slog.Logger, next http.Handler, w http.ResponseWriter, r *http.Request, bytes int64,
) {
	rec := exchange.Of(r)
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer rec.EndHead()
	if timed, ok := r.Body.(*exchange.Body); ok {
		defer timed.Hurry()
	}
	if !limits.CountHead(r, requestinfo.UserOf(r), bytes, func() { cancel(status.ErrBusy) }) {
		respond.Error(log, w, r, status.ErrBusy)
		return
	}
	next.ServeHTTP(w, r.WithContext(ctx))
}
