package apiserver

import "net/http"

// forgetful is what an answer over HTTP/2 is written to. It knows what is left when the handler has returned.
type forgetful struct {
	http.ResponseWriter
	// rec is the answer's recorder; nil before there is one.
	rec *recorder
}

// Unwrap lets http.ResponseController reach the stream, and the errors of its flushes.
func (w *forgetful) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// forget drops the headers of a request over HTTP/2 when its handler has returned: net/http keeps them until the client
// has taken the answer. Only then an answer is sampled (see recorder.sample), which may wait for the client.
func forget(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			next.ServeHTTP(w, r)
			return
		}
		f := &forgetful{ResponseWriter: w}
		defer f.close()
		next.ServeHTTP(f, r)
		r.Header, r.URL, r.RequestURI = nil, nil, ""
		f.rec.sample(connectionOf(r))
	})
}

func (w *forgetful) close() {
	if w.rec != nil {
		w.rec.backlog.close()
	}
}
