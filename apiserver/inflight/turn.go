package inflight

import (
	"net/http"
	"runtime"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// MaxWaiting is how many requests may wait for their turn to begin.
const MaxWaiting = 8192

// Places is how many requests begin at a time. With fewer, those of an honest client would wait for each other; more
// keep the processors from others for longer.
func Places() int { return 2 * runtime.GOMAXPROCS(0) }

// Wait waits for a turn to do what comes before a request has its seat, or is rejected. Places requests do that at a
// time, in turn for each owner of connections, so that a flood of requests delays its own. The caller hands the turn to
// the request's recorder (Begin). Errors: 429 if too many of the owner's wait; that of the request's context, if it
// ends before.
func (l *Limits) Wait(r *http.Request) error {
	if r.ProtoMajor == 2 && r.Context().Err() != nil { // a stream that was reset
		return r.Context().Err()
	}
	if !l.short.Try() {
		switch l.short.Begin(turns.Now, exchange.ConnectionOf(r).Owner(), r.Context().Done()) {
		case turns.ErrGone:
			return r.Context().Err()
		case turns.ErrFull:
			return status.ErrBusy
		}
	}
	return nil
}

// Begin gives a recorder the turn for which Wait has waited.
func (l *Limits) Begin(rec *exchange.Recorder) { rec.TakeTurn(l.short) }

// TakeTurn waits for the request's turn, if it has none. A request without a recorder needs none. Before a request
// waits for anything else, its turn ends. Errors: those of Wait.
func (l *Limits) TakeTurn(r *http.Request) error {
	rec := exchange.Of(r)
	if rec == nil || rec.InTurn() {
		return nil
	}
	err := l.Wait(r)
	if err == nil {
		l.Begin(rec)
	}
	return err
}

// InTurn does a user's work, if it is long one after the other, so that short requests find a processor, and other
// users their turns. A request that waits for its turn has no seat meanwhile. The error is that of r's context, if that
// ends before.
func (l *Limits) InTurn(r *http.Request, user string, long bool, work func()) error {
	if long {
		if err := l.waitLong(r, pool.HolderOf(user)); err != nil {
			return err
		}
		defer l.long.End(turns.Now)
	}
	work()
	return nil
}

// waitLong waits for the turn of long work.
func (l *Limits) waitLong(r *http.Request, holder string) (err error) {
	if l.long.Try() {
		return nil
	}
	exchange.Of(r).Aside(func() { err = l.long.Begin(turns.Now, holder, r.Context().Done()) })
	if err != nil {
		return r.Context().Err()
	}
	return nil
}

// HoldTurns takes all turns for long work until release. waiting returns how many requests of a user wait for one. The
// server doesn't call it: it is exported for the tests of package endpoints, which make real requests wait for a turn.
func (l *Limits) HoldTurns() (release func(), waiting func(user string) int) {
	return hold(l.long), func(user string) int { return l.long.Waiting(turns.Now, user) }
}

// hold takes all turns, for tests.
func hold[K comparable](t *turns.Turns[K]) (release func()) {
	taken := 0
	for t.Try() {
		taken++
	}
	return func() {
		for range taken {
			t.End(turns.Now)
		}
	}
}
