package exchange

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// writeAtOnce is how many bytes a client must take within Config.WriteTimeout.
const writeAtOnce = 256 << 10

// Recorder remembers what was answered, and cuts off clients that don't read.
type Recorder struct {
	http.ResponseWriter
	code  int
	bytes int
	// stall is how long the client may leave writeAtOnce bytes unread.
	stall time.Duration
	// until is the present deadline; zero is none.
	until time.Time
	// Label is how metrics call the request; empty until it has been routed.
	Label Label
	// seat is left while a write waits for the client longer than patience allows; nil if the request has none.
	seat     *flowcontrol.Seat
	patience *time.Timer
	backlog  backlog
	// turn is what the request has a turn of until it has begun; nil from then on.
	turn *turns.Turns[connections.Owner]
	// head is what the request's URL and headers count for; nil if they are short.
	head *pool.Holding
	// query is what rawQuery was parsed to; nil before it was.
	query    url.Values
	rawQuery string
}

// Query returns the parameters of a request, which are parsed once. They are not to be changed.
func Query(r *http.Request) url.Values {
	rec := Of(r)
	if rec == nil {
		return r.URL.Query()
	}
	if rec.query == nil || rec.rawQuery != r.URL.RawQuery {
		rec.query, rec.rawQuery = r.URL.Query(), r.URL.RawQuery
	}
	return rec.query
}

const (
	// patienceTime is how long a write may wait for the client before its request leaves its seat.
	patienceTime = 50 * time.Millisecond
	// patienceFrom is from how many bytes a write may wait: net/http keeps fewer until the handler has returned.
	patienceFrom = 4 << 10
	// patienceKept is from how many bytes that an answer keeps the shortest write counts.
	patienceKept = 64 << 10
	// slice is how many bytes are written before others have a turn: a tenth of a millisecond. Another processor may
	// take the request over then, which costs some microseconds.
	slice = 256 << 10
)

// New returns what answers are written to by clients who may leave writeAtOnce bytes unread for so long.
func New(w http.ResponseWriter, stall time.Duration) *Recorder {
	return &Recorder{ResponseWriter: w, stall: stall}
}

// Answered is the code and the bytes that were answered.
func (w *Recorder) Answered() (code, bytes int) { return w.code, w.bytes }

// Begun reports whether the answer has begun.
func (w *Recorder) Begun() bool { return w.code != 0 }

// WriteHeader notes the code of the answer.
func (w *Recorder) WriteHeader(code int) {
	w.EndTurn()
	if w.code == 0 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write writes in pieces, each with a deadline of its own, so that a large answer may take long on
// a slow line, and one that isn't read at all ends.
func (w *Recorder) Write(b []byte) (int, error) {
	w.EndTurn()
	if w.code == 0 {
		w.code = http.StatusOK
	}
	rest := b
	for {
		piece := rest[:min(len(rest), writeAtOnce)]
		w.SetDeadline(time.Now().Add(w.stall))
		n, err := w.writePatiently(piece, b)
		if before := w.bytes; (before+n)/slice > before/slice {
			runtime.Gosched() // short answers go first
		}
		w.bytes += n
		if rest = rest[n:]; err != nil || len(rest) == 0 {
			return len(b) - len(rest), err
		}
	}
}

// Sit says which seat the request has from now on; nil for none.
func (w *Recorder) Sit(seat *flowcontrol.Seat) {
	if w != nil {
		w.seat, w.patience = seat, nil
	}
}

// Aside runs wait while others have the seat of the request.
func (w *Recorder) Aside(wait func()) {
	w.EndTurn()
	if w == nil || w.seat == nil {
		wait()
		return
	}
	w.seat.Leave()
	defer w.seat.Return()
	wait()
}

// writePatiently writes a piece of what is to be written in all; if that takes long, others have a seat of the
// request's meanwhile, and what the answer keeps counts.
func (w *Recorder) writePatiently(piece, all []byte) (n int, err error) {
	if w.backlog.isCut() {
		return 0, ErrCutOff
	}
	if len(piece) < patienceFrom && w.backlog.kept < patienceKept {
		return w.ResponseWriter.Write(piece)
	}
	w.Patiently(all, func() { n, err = w.ResponseWriter.Write(piece) })
	return n, err
}

// Patiently runs what may have to wait for the client to take some of the bytes, which don't change meanwhile. The
// request keeps its seat meanwhile only if that is short.
func (w *Recorder) Patiently(all []byte, write func()) {
	if w == nil {
		write()
		return
	}
	w.backlog.begin(all)
	if w.patience == nil {
		seat := w.seat // a timer that fires late leaves none that the request has by then
		w.patience = time.AfterFunc(patienceTime, func() {
			if seat != nil {
				seat.Leave()
			}
			w.backlog.late()
		})
	} else {
		w.patience.Reset(patienceTime)
	}
	write()
	inTime := w.patience.Stop()
	w.backlog.end()
	if !inTime && w.seat != nil {
		w.seat.Return() // if that comes before Leave, the end of the request returns it
	}
}

// FlushError sends what net/http holds back, in time or not at all. What comes after it is not late
// yet: over HTTP/2 a deadline ends the whole stream when it passes, also one that has nothing to send.
func (w *Recorder) FlushError() error {
	w.extend()
	err := w.flushPatiently()
	if err == nil {
		w.SetDeadline(time.Time{})
	}
	return err
}

func (w *Recorder) flushPatiently() (err error) {
	c := http.NewResponseController(w.ResponseWriter)
	if w.backlog.isCut() {
		return ErrCutOff
	}
	if w.backlog.kept < patienceKept {
		return c.Flush()
	}
	w.Patiently(nil, func() { err = c.Flush() })
	return err
}

// Finish bounds what net/http sends when the handler has returned.
func (w *Recorder) Finish() { w.extend() }

// extend sets the deadline anew, unless that was done just now: as a rule Write has.
func (w *Recorder) extend() {
	if t := time.Now().Add(w.stall); t.Sub(w.until) > w.stall/16 {
		w.SetDeadline(t)
	}
}

const (
	// sampleEvery is of how many answers over HTTP/2 one is waited for that net/http would send by itself, and
	// streamMemory what each that isn't read keeps: a buffer, headers and a goroutine.
	sampleEvery, streamMemory = 8, 16 << 10
)

// Sample sends some short answers over HTTP/2 at once, and counts them for all if the client doesn't read: net/http
// sends them when the handler has returned, and waits for clients that give them no window. If there is no room for one
// it ends the connection, as the others that it stands for are on it. w may be nil: nothing was answered.
func (w *Recorder) Sample(c *connections.Conn) {
	if w == nil || w.backlog.isCut() || !c.Samples(sampleEvery) {
		return
	}
	w.query, w.rawQuery = nil, ""
	w.Keep(sampleEvery * streamMemory)
	_ = w.flushPatiently() // if that fails, the client is gone
	if w.backlog.isCut() {
		_ = c.Close()
	}
}

// SetDeadline bounds writes from now on. Only writers without a connection don't know deadlines.
func (w *Recorder) SetDeadline(t time.Time) {
	w.until = t
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack is passed on for upgrades.
func (w *Recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.EndTurn()
	if w.code == 0 {
		w.code = http.StatusSwitchingProtocols
	}
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

type recorderKey struct{}

// Record returns the request with what records its answer.
func (w *Recorder) Record(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), recorderKey{}, w))
}

// Of is what records a request's answer; nil if nothing does.
func Of(r *http.Request) *Recorder { return In(r.Context()) }

// In is that of a request's context.
func In(ctx context.Context) *Recorder {
	rec, _ := ctx.Value(recorderKey{}).(*Recorder)
	return rec
}
