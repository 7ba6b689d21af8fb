package filters

import (
	"net/http"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// StripSlash takes slashes off the end of the path (go-restful tokenizePath). From here on the path is the unescaped one
// alone: as in kube-apiserver, an escaped slash in a name separates segments.
func StripSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimRight(r.URL.Path, "/")
		if path == "" {
			path = r.URL.Path[:min(len(r.URL.Path), 1)]
		}
		if stripped := len(path) < len(r.URL.Path); stripped || r.URL.RawPath != "" {
			u := *r.URL
			u.Path, u.RawPath = path, ""
			if stripped {
				r = requestinfo.WithAsked(r, r.URL.Path)
			}
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}
