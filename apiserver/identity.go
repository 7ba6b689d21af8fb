package apiserver

import (
	"context"
	"errors"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/auth"
)

// Authenticator says who a request comes from; auth.ErrNoCredentials if it doesn't say.
type Authenticator func(r *http.Request) (auth.User, error)

// Certificates knows clients by the certificate that the TLS layer has verified.
func Certificates(r *http.Request) (auth.User, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return auth.User{}, auth.ErrNoCredentials
	}
	return auth.FromCertificate(r.TLS.VerifiedChains[0])
}

type userKey struct{}

// authenticate refuses who isn't known.
func (s *Server) authenticate(who Authenticator) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			u, err := who(r)
			if err != nil {
				if !errors.Is(err, auth.ErrNoCredentials) {
					s.log.Info("authentication failed", "err", err)
				}
				s.writeError(w, r, errUnauthorized)
				return
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, u)))
		})
	}
}

func userOf(r *http.Request) auth.User {
	u, _ := r.Context().Value(userKey{}).(auth.User)
	return u
}
