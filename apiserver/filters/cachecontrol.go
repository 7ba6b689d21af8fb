package filters

import "net/http"

// NoCache forbids caching of every answer, errors too (AS endpoints/filters/cachecontrol.go).
func NoCache(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache, private")
		next.ServeHTTP(w, r)
	})
}
