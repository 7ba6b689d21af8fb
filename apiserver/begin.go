package apiserver

import (
	"net/http"
	"runtime"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// maxBegun is how many requests may wait for their turn to begin.
const maxBegun = 8192

// placesToBegin is how many requests begin at a time. With fewer, those of an honest client would wait for each other;
// more keep the processors from others for longer.
func placesToBegin() int { return 2 * runtime.GOMAXPROCS(0) }

// begin begins a request in its turn, records its answer, and lets go of what is left when the handler has returned:
// over HTTP/2 net/http keeps a request's headers until the client has taken the answer.
func (s *Server) begin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := s.waitTurn(r) // before anything else, which would take memory
		if err != nil {
			if err == status.ErrBusy {
				s.dismiss(w, r)
			}
			return
		}
		rec := exchange.New(w, s.config.WriteTimeout)
		rec.TakeTurn(s.short)
		defer rec.Close()
		next.ServeHTTP(rec, rec.Record(r))
		rec.EndTurn()
		if r.ProtoMajor == 2 {
			r.Header, r.URL, r.RequestURI = nil, nil, ""
			rec.Sample(exchange.ConnectionOf(r))
		}
	})
}

// dismiss answers 429 without a body, which the client might leave unread. What the request has of one isn't waited
// for.
func (s *Server) dismiss(w http.ResponseWriter, r *http.Request) {
	if exchange.HasBody(r) {
		if r.ProtoMajor < 2 {
			w.Header().Set("Connection", "close")
		}
		exchange.NewBody(w, r, time.Now().Add(exchange.HeadPatience))
	}
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusTooManyRequests)
}

// takeTurn waits for the request's turn, if it has none. A request without a recorder needs none. Before a request
// waits for anything else, its turn ends. Errors: those of waitTurn.
func (s *Server) takeTurn(rec *exchange.Recorder, r *http.Request) error {
	if rec == nil || rec.InTurn() {
		return nil
	}
	err := s.waitTurn(r)
	if err == nil {
		rec.TakeTurn(s.short)
	}
	return err
}

// waitTurn waits for a turn to do what comes before a request has its seat, or is rejected. So many requests do that at
// a time, in turn for each owner of connections, so that a flood of requests delays its own. Errors: 429 if too many of
// the owner's wait; that of the request's context, if it ends before.
func (s *Server) waitTurn(r *http.Request) error {
	if r.ProtoMajor == 2 && r.Context().Err() != nil { // a stream that was reset
		return r.Context().Err()
	}
	if !s.short.Try() {
		switch s.short.Begin(turns.Now, exchange.ConnectionOf(r).Owner(), r.Context().Done()) {
		case turns.ErrGone:
			return r.Context().Err()
		case turns.ErrFull:
			return status.ErrBusy
		}
	}
	return nil
}
