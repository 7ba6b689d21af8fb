package apiserver

import (
	"context"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

const (
	// longHead is from how many bytes a request's URL and headers count: net/http's buffers are no smaller than that.
	longHead = 16 << 10
)

// countHead counts a long URL and long headers from before the request is authorized until its end, as answers that are
// left unread count: while its body comes, and while it waits for a seat or for memory. A request that waits is cut off
// if there is no room for another user's.
func (s *Server) countHead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bytes, rec := standing(r)-render.WatchMemory, exchange.Of(r)
		if bytes <= longHead || rec == nil {
			next.ServeHTTP(w, r)
			return
		}
		s.serveLongHead(next, w, r, bytes)
	})
}

// serveLongHead is apart from countHead as the frames of all requests are on the stack of their writes, which is
// copied whenever it grows.
func (s *Server) serveLongHead(next http.Handler, w http.ResponseWriter, r *http.Request, bytes int64) {
	rec := exchange.Of(r)
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	user := userOf(r)
	defer rec.EndHead()
	if timed, ok := r.Body.(*exchange.Body); ok {
		defer timed.Hurry()
	}
	if !rec.CountHead(s.unread.Of(user), user.Name, bytes, r.Body, func() { cancel(status.ErrBusy) }) {
		s.writeError(w, r, status.ErrBusy)
		return
	}
	next.ServeHTTP(w, r.WithContext(ctx))
}
