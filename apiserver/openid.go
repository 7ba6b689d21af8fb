package apiserver

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/render"
)

// openID serves what is needed to verify service account tokens: the issuer's configuration and its keys
// (K pkg/routes/openidmetadata.go). Both are encoded for each request, as there are few.
func (s *Server) openID(w http.ResponseWriter, r *http.Request) {
	if s.config.Accounts == nil {
		http.NotFound(w, r)
		return
	}
	configuration, keys, err := s.config.Accounts.Documents(s.config.KeysURL)
	if err != nil {
		s.config.Log.Info("the issuer of service account tokens does not support discovery", "err", err)
		http.NotFound(w, r)
		return
	}
	media, data := "application/json", configuration
	if r.URL.Path == "/openid/v1/jwks" {
		media, data = "application/jwk-set+json", keys
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	render.Body(w, r, http.StatusOK, data)
}
