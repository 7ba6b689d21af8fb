package filters

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Authenticator returns the user that a request's credentials stand for; authentication.ErrNoCredentials if it has
// none.
type Authenticator func(r *http.Request) (authorization.User, error)

// Authenticate answers 401 unless the authenticator knows the user. The credentials go no further, and neither do the
// headers by which a proxy names the user: the usual ones, and those of proxies, which may be nil. What a request takes
// until it is answered counts for its user, except on openPaths: if that is too much the answer is 429.
func Authenticate(
	by Authenticator, proxies *authentication.Proxies, inFlight *flowcontrol.Budget, events *audit.Log, log *slog.Logger,
) func(http.Handler) http.Handler {
	a := authenticate{by, proxies, inFlight, events, log}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			known, release := a.begin(w, r)
			defer release()
			if known != nil {
				next.ServeHTTP(w, known)
			}
			if rec := render.RecorderOf(r); r.ProtoMajor == 2 && rec != nil && rec.Begun() {
				// Else net/http sends the rest later, and waits as long as the client does not read it.
				_ = rec.Send() // nothing is left to do if the client is gone
			}
		})
	}
}

type authenticate struct {
	by       Authenticator
	proxies  *authentication.Proxies
	inFlight *flowcontrol.Budget
	events   *audit.Log
	log      *slog.Logger
}

// begin returns the request as that of its user, nil if it is answered, and the function that releases its memory.
func (a *authenticate) begin(w http.ResponseWriter, r *http.Request) (known *http.Request, release func()) {
	user, err := a.by(r)
	release = func() {}
	if !slices.Contains(openPaths, firstSegment(r.URL.Path)) {
		taken, ok := a.inFlight.Try(user.Name, requestMemory(r))
		if !ok {
			reject(w)
			return nil, release
		}
		release = taken
	}
	if (err != nil || user.Name == authorization.NameAnonymous) && r.ProtoMajor == 2 {
		w.Header().Set("Connection", "close") // anonymous clients keep no connection open
	}
	if err != nil {
		if !errors.Is(err, authentication.ErrNoCredentials) {
			a.log.Info("authentication failed", "err", render.Shortened(err))
		}
		auditRejected(a.events, w, r)
		render.Error(a.log, w, r, status.ErrUnauthorized)
		return nil, release
	}
	for name := range r.Header {
		if name == "Authorization" || strings.HasPrefix(name, "X-Remote-") {
			r.Header.Del(name)
		}
	}
	if a.proxies != nil {
		a.proxies.Clear(r.Header)
	}
	return requestinfo.With(r, user), release
}

// requestMemory estimates the memory of a request that is not carried out yet: goroutines and buffers, the body, the
// headers, and what selectors in its query become, of which each term takes up to 300 bytes. A body whose length the
// client does not tell counts as the longest.
func requestMemory(r *http.Request) int64 {
	n := 16<<10 + 32*len(r.URL.RawQuery) + int(min(r.ContentLength, codec.MaxBody))
	if r.ContentLength < 0 {
		n += codec.MaxBody + 1
	}
	for name, values := range r.Header {
		for _, v := range values {
			n += 2*(len(name)+len(v)) + 100
		}
	}
	return int64(n)
}

// reject answers 429 without a body, which the client might leave unread.
func reject(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusTooManyRequests)
}
