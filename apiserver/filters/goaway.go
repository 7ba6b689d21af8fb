package filters

import "net/http"

// Goaway closes the connection for a fraction of the requests over HTTP/2. The client gets a GOAWAY, its open streams
// continue, and its next request opens a connection, which a load balancer may direct to another server. random returns
// numbers in [0, 1). (AS pkg/server/filters/goaway.go)
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
