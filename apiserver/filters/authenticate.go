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

// Authenticator returns the user that a request's credentials identify, or authentication.ErrNoCredentials if the
// request has none.
type Authenticator func(r *http.Request) (authorization.User, error)

// Authenticate responds with 401 unless the authenticator returns a user. It removes the credentials, and the headers
// in which a proxy names the user: X-Remote-*, and those of proxies, which may be nil. Until the response ends, the
// memory of a request is part of its user's share, except on openPaths. If the share of the user or the memory for all
// users is used up, the response is 429.
func Authenticate(
	by Authenticator, proxies *authentication.Proxies, inFlight *flowcontrol.Budget, events *audit.Log, log *slog.Logger,
) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, err := identify(by, r)
			release, ok := acquire(inFlight, r)
			if !ok {
				reject(w)
				return
			}
			defer release()
			if authenticated(err, events, log, w, r) {
				removeCredentials(r.Header, proxies)
				next.ServeHTTP(w, r)
			}
			if rec := render.RecorderOf(r); r.ProtoMajor == 2 && rec != nil && rec.Begun() && !rec.Lost {
				// Otherwise net/http sends the rest after the handler, and waits while the client does not read it.
				_ = rec.Send() // nothing is left to do if the client is gone
			}
		})
	}
}

// identify returns the request with its user, and the error of the authenticator.
func identify(by Authenticator, r *http.Request) (*http.Request, error) {
	user, err := by(r)
	return requestinfo.With(r, user), err
}

// acquire acquires the memory of a request for its user. Requests of openPaths need none.
func acquire(inFlight *flowcontrol.Budget, r *http.Request) (release func(), ok bool) {
	if slices.Contains(openPaths, firstSegment(r.URL.Path)) {
		return func() {}, true
	}
	return inFlight.Try(requestinfo.UserOf(r).Name, requestMemory(r))
}

// authenticated reports whether the authenticator returned a user. If not, it has responded with 401.
func authenticated(err error, events *audit.Log, log *slog.Logger, w http.ResponseWriter, r *http.Request) bool {
	if (err != nil || requestinfo.UserOf(r).Name == authorization.NameAnonymous) && r.ProtoMajor == 2 {
		w.Header().Set("Connection", "close") // anonymous clients may not keep a connection open
	}
	if err != nil {
		if !errors.Is(err, authentication.ErrNoCredentials) {
			log.Info("authentication failed", "err", render.Shortened(err))
		}
		auditRejected(events, w, r)
		render.Error(log, w, r, status.ErrUnauthorized)
		return false
	}
	return true
}

// removeCredentials removes the credentials from the header, and the fields in which a proxy names the user.
func removeCredentials(header http.Header, proxies *authentication.Proxies) {
	for name := range header {
		if name == "Authorization" || strings.HasPrefix(name, "X-Remote-") {
			header.Del(name)
		}
	}
	if proxies != nil {
		proxies.Clear(header)
	}
}

// requestMemory estimates the memory of a request before its handler runs: goroutines, buffers, body, headers, and the
// selectors of its query, each term of which takes up to 300 bytes. A body of unknown length has the maximum size.
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

// reject responds with 429 without a body, because the client might not read it.
func reject(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusTooManyRequests)
}
