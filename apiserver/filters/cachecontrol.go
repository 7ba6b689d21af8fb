package filters

import "net/http"

// NoCache marks every answer, failures too: all are for who has asked (AS endpoints/filters/cachecontrol.go).
func NoCache(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache, private")
		next.ServeHTTP(w, r)
	})
}
