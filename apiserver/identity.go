package apiserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/resources/hooks"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// authenticator says who a request comes from; auth.ErrNoCredentials if it doesn't say.
type authenticator func(r *http.Request) (auth.User, error)

// whoAsks knows clients by their certificate or else by their token. Credentials that are wrong are an
// error even where none would do.
func (s *Server) whoAsks(r *http.Request) (auth.User, error) {
	var wrong error
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 && s.config.Certificates != nil {
		u, err := s.config.Certificates.User(r.TLS.PeerCertificates, s.now())
		if err == nil {
			return u, nil
		}
		wrong = err
	}
	token, err := bearer(r)
	var others []string
	if errors.Is(err, auth.ErrNoCredentials) {
		token, others, err = socketBearer(r)
	}
	switch {
	case err == nil:
		u, _, err := s.bearerOf(r.Context(), token, nil)
		if err == nil && others != nil {
			r.Header.Set(subprotocols, strings.Join(others, ","))
		}
		return u, err
	case !errors.Is(err, auth.ErrNoCredentials):
		return auth.User{}, err
	case wrong != nil:
		return auth.User{}, wrong
	case s.admitsAnonymous(r.URL.Path):
		return auth.Anonymous, nil
	}
	return auth.User{}, auth.ErrNoCredentials
}

// admitsAnonymous reports whether a client needs no credentials to be judged. With AlwaysAllow in the
// chain it does, but for the open paths: nobody may do everything who isn't known
// (K pkg/kubeapiserver/options/authentication.go: ApplyAuthorization).
func (s *Server) admitsAnonymous(path string) bool {
	if slices.Contains(s.config.Modes, "AlwaysAllow") {
		return slices.Contains(openPaths, firstSegment(path))
	}
	return s.config.Anonymous
}

// openPaths are for everybody in the mode AlwaysAllow. kube-apiserver turns anonymous requests off
// altogether there, and its probes bring credentials; here they needn't.
var openPaths = []string{"healthz", "livez", "readyz", "version"}

func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// whoAsksPlainly is for the plain port, whose clients are administrators. Where there is authorization
// to tell users apart, a client that says who it is is believed only if it proves it.
func (s *Server) whoAsksPlainly(r *http.Request) (auth.User, error) {
	_, _, err := socketBearer(r)
	if (len(r.Header.Values("Authorization")) > 0 || !errors.Is(err, auth.ErrNoCredentials)) && !s.allowsAll() {
		return s.whoAsks(r)
	}
	return auth.Loopback, nil
}

// bearer returns the request's token. What else there is in an Authorization header is wrong: nobody is
// known by it here.
func bearer(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", auth.ErrNoCredentials
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if token = strings.TrimSpace(token); len(values) > 1 || !strings.EqualFold(scheme, "bearer") || token == "" || strings.Contains(token, " ") {
		return "", auth.ErrToken
	}
	return token, nil
}

// bearerOf returns whose a token is, and for which of the audiences it is good; no audiences are the
// server's own.
func (s *Server) bearerOf(ctx context.Context, token string, audiences []string) (auth.User, []string, error) {
	accounts := s.config.Accounts
	if u, ok := s.config.StaticTokens.User(token); ok {
		if accounts == nil {
			return u, nil, nil
		}
		good := accounts.Audiences()
		if len(audiences) > 0 {
			good = slices.DeleteFunc(slices.Clone(good), func(name string) bool { return !slices.Contains(audiences, name) })
		}
		if len(good) == 0 {
			return auth.User{}, nil, auth.ErrToken
		}
		return u, good, nil
	}
	if accounts == nil {
		return auth.User{}, nil, auth.ErrToken
	}
	return accounts.Verify(token, audiences, s.now(), &boundObjects{ctx, s})
}

// tokenUser is bearerOf for a token that a client asks about.
func (s *Server) tokenUser(ctx context.Context, token string, audiences []string) (auth.User, []string, error) {
	token, err := bearer(&http.Request{Header: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		return auth.User{}, nil, err
	}
	return s.bearerOf(ctx, token, audiences)
}

// boundObjects looks up what tokens are about (auth.Objects).
type boundObjects struct {
	ctx context.Context
	s   *Server
}

// Bound implements auth.Objects.
func (b *boundObjects) Bound(resource, namespace, name string) (uid string, deletion time.Time, ok bool) {
	ref := hooks.Reference{
		Resource: schema.GroupVersionResource{Version: "v1", Resource: resource}, Namespace: namespace, Name: name,
	}
	return b.s.registry.Bound(b.ctx, ref, exchange.In(b.ctx).EndTurn)
}

type userKey struct{}

// authenticate refuses who isn't known. What a client was known by goes no further, and neither do the
// headers by which a proxy in front of kube-apiserver says whom it speaks for: there is none here.
func (s *Server) authenticate(who authenticator) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			known := s.identified(w, r, who)
			if r.ProtoMajor == 2 && (known == nil || userOf(known).Name == auth.NameAnonymous) {
				defer swallow(r)
			}
			if known != nil {
				next.ServeHTTP(w, known)
			}
		})
	}
}

// identified returns the request as that of the client's user; nil if who that is isn't known, and it is answered.
func (s *Server) identified(w http.ResponseWriter, r *http.Request, who authenticator) *http.Request {
	user, err := who(r)
	if (err != nil || user.Name == auth.NameAnonymous) && r.ProtoMajor == 2 {
		w.Header().Set("Connection", "close") // anonymous clients keep no connection open
	}
	if err != nil {
		exchange.Of(r).CountIn(s.unread.Of(auth.Anonymous), auth.NameAnonymous)
		if !errors.Is(err, auth.ErrNoCredentials) {
			s.log.Info("authentication failed", "err", shortened(err))
		}
		s.writeError(w, r, status.ErrUnauthorized)
		return nil
	}
	if user.Name != auth.NameAnonymous {
		exchange.ConnectionOf(r).Own(pool.HolderOf(user.Name), slices.Contains(user.Groups, auth.GroupMasters))
	}
	for name := range r.Header {
		if name == "Authorization" || strings.HasPrefix(name, "X-Remote-") {
			r.Header.Del(name)
		}
	}
	exchange.Of(r).CountIn(s.unread.Of(user), user.Name)
	return r.WithContext(context.WithValue(r.Context(), userKey{}, user))
}

// swallow reads a small body that nobody has read. A client that is still sending when the connection is
// about to be closed may lose the answer; one that doesn't send soon isn't waited for.
func swallow(r *http.Request) {
	const most, patience = 64 << 10, time.Second
	if b, ok := r.Body.(*exchange.Body); ok && r.ContentLength > 0 && r.ContentLength <= most && r.Header.Get("Expect") == "" {
		exchange.Of(r).EndTurn()
		b.Wait(patience)
		_, _ = io.Copy(io.Discard, b) // whatever comes of it, the answer is made
	}
}

func userOf(r *http.Request) auth.User {
	u, _ := r.Context().Value(userKey{}).(auth.User)
	return u
}
