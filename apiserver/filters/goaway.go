package filters

import "net/http"

// Goaway closes the connection of a fraction of the requests over HTTP/2: the client gets a GOAWAY, streams that are
// open go on, and its next request opens a connection, behind a load balancer perhaps to another server. random returns
// numbers from 0 up to 1. (AS pkg/server/filters/goaway.go)
func Goaway(chance float64, random func() float64) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if chance <= 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor == 2 && random() < chance {
				w.Header().Set("Connection", "close")
			}
			next.ServeHTTP(w, r)
		})
	}
}
