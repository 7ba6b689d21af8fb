package filters

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/inflight"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/respond"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Authenticator returns the user that a request's credentials stand for; authentication.ErrNoCredentials if it has
// none.
type Authenticator func(r *http.Request) (authentication.User, error)

// Authenticate answers 401 unless the authenticator knows the user. The credentials go no further, and neither do the
// headers by which a proxy names the user: the usual ones, and those of proxies, which may be nil.
func Authenticate(
	by Authenticator, proxies *authentication.Proxies, limits *inflight.Limits, events *audit.Log, log *slog.Logger,
) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			known := authenticated(by, limits, events, log, w, r)
			if proxies != nil {
				proxies.Clear(r.Header)
			}
			if r.ProtoMajor == 2 && (known == nil || requestinfo.UserOf(known).Name == authentication.NameAnonymous) {
				defer swallow(r)
			}
			if known != nil {
				next.ServeHTTP(w, known)
			}
		})
	}
}

// authenticated returns the request as that of its user; nil if it is answered.
func authenticated(
	by Authenticator, limits *inflight.Limits, events *audit.Log, log *slog.Logger, w http.ResponseWriter, r *http.Request,
) *http.Request {
	user, err := by(r)
	if (err != nil || user.Name == authentication.NameAnonymous) && r.ProtoMajor == 2 {
		w.Header().Set("Connection", "close") // anonymous clients keep no connection open
	}
	if err != nil {
		limits.CountIn(r, authentication.Anonymous)
		if !errors.Is(err, authentication.ErrNoCredentials) {
			log.Info("authentication failed", "err", respond.Shortened(err))
		}
		auditRejected(events, limits, w, r)
		respond.Error(log, w, r, status.ErrUnauthorized)
		return nil
	}
	if user.Name != authentication.NameAnonymous {
		exchange.ConnectionOf(r).Own(pool.HolderOf(user.Name), slices.Contains(user.Groups, authentication.GroupMasters))
	}
	for name := range r.Header {
		if name == "Authorization" || strings.HasPrefix(name, "X-Remote-") {
			r.Header.Del(name)
		}
	}
	limits.CountIn(r, user)
	return requestinfo.With(r, user)
}

// swallow reads a small body that no handler has read. A client that is still sending when the connection is about to
// be closed may lose the answer. A client that does not send soon is not waited for.
func swallow(r *http.Request) {
	const most, patience = 64 << 10, time.Second
	if b, ok := r.Body.(*exchange.Body); ok && r.ContentLength > 0 && r.ContentLength <= most &&
		r.Header.Get("Expect") == "" {
		exchange.Of(r).EndTurn()
		b.Wait(patience)
		_, _ = io.Copy(io.Discard, b) // the answer is made in any case
	}
}
