package filters

import "net/http"

// noCache is shared by the headers of all responses. Nothing changes it.
var noCache = []string{"no-cache, private"}

// NoCache forbids caching of every response, including errors (AS endpoints/filters/cachecontrol.go).
func NoCache(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Cache-Control"] = noCache
		next.ServeHTTP(w, r)
	})
}
