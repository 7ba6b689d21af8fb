package filters

import (
	"context"
	"net/http"
	"strings"
)

// StripSlash removes slashes from the end of the path (go-restful tokenizePath). Handlers see only the unescaped path:
// as in kube-apiserver, an escaped slash in a name separates segments. An escaped slash at the end stays, so that a
// client that escapes a wrong name does not get the collection.
func StripSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		escaped := r.URL.EscapedPath()
		stripped := len(escaped) - len(strings.TrimRight(escaped, "/"))
		stripped = min(stripped, len(escaped)-1)
		if stripped > 0 || r.URL.RawPath != "" {
			u := *r.URL
			u.Path, u.RawPath = u.Path[:len(u.Path)-max(stripped, 0)], ""
			if stripped > 0 {
				r = r.WithContext(context.WithValue(r.Context(), originalPathKey{}, r.URL.Path))
			}
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

// originalPathKey is the context key of the original path, if StripSlash has removed slashes.
type originalPathKey struct{}

// OriginalPath returns the original path of the request, with the slashes at its end.
func OriginalPath(r *http.Request) string {
	if path, ok := r.Context().Value(originalPathKey{}).(string); ok {
		return path
	}
	return r.URL.Path
}
