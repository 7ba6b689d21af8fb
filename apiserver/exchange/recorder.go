package exchange

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// writeAtOnce is how many bytes a client must read within Config.WriteTimeout.
const writeAtOnce = 256 << 10

// Recorder records the status and size of a response, and cuts off clients that don't read.
type Recorder struct {
	http.ResponseWriter
	// control is the ResponseWriter's.
	control http.ResponseController
	code    int
	bytes   int
	// stall is how long the client may leave writeAtOnce bytes unread.
	stall time.Duration
	// until is the current write deadline; zero is none.
	until time.Time
	// Received is when the request arrived. Audit is what the audit log has of it; nil if it is not recorded.
	Received time.Time
	Audit    *audit.Record
	// Label has the labels of the request in metrics; empty until it has been routed.
	Label Label
	// seat is lent while a write is blocked for longer than patienceTime; nil if the request has none.
	seat *flowcontrol.Seat
	// memory is parked while the request waits for webhooks; nil if it has none.
	memory   Memory
	patience *time.Timer
	backlog  backlog
	// turn is where the request has a turn until it begins; nil from then on.
	turn *turns.Turns[connections.Owner]
	// head is the memory of the request's URL and headers; nil if they are short.
	head *pool.Holding
	// count counts the URL and headers in a pool; nil if they are short.
	count func(p *pool.Pool, user string) bool
	scope scope
	// query is the parsed rawQuery; nil before.
	query    url.Values
	rawQuery string
}

// Query returns the parameters of a request, which are parsed once. Callers must not change them.
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
	// patienceTime is how long a write may block before its request gives up its seat.
	patienceTime = 50 * time.Millisecond
	// patienceFrom is the size in bytes from which a write may block: net/http buffers fewer until the handler has
	// returned.
	patienceFrom = 4 << 10
	// patienceKept is the memory of a response, in bytes, from which even a short write counts.
	patienceKept = 64 << 10
)

// New returns a Recorder for a client that may leave writeAtOnce bytes unread for the duration stall.
func New(w http.ResponseWriter, stall time.Duration) *Recorder {
	return &Recorder{ResponseWriter: w, control: *http.NewResponseController(w), stall: stall}
}

// Answered returns the status code and the size of the body.
func (w *Recorder) Answered() (code, bytes int) { return w.code, w.bytes }

// Begun reports whether the response has begun.
func (w *Recorder) Begun() bool { return w.code != 0 }

// WriteHeader records the status code.
func (w *Recorder) WriteHeader(code int) {
	w.EndTurn()
	w.begin(code)
	w.ResponseWriter.WriteHeader(code)
}

// begin records the status code before it is sent.
func (w *Recorder) begin(code int) {
	if w.code == 0 {
		w.code = code
		w.Audit.Started(code)
	}
}

// Write writes in pieces, each with its own deadline, so that a large response may take long on a slow line, and one
// that is not read ends.
func (w *Recorder) Write(b []byte) (int, error) {
	w.EndTurn()
	w.begin(http.StatusOK)
	rest := b
	for {
		piece := rest[:min(len(rest), writeAtOnce)]
		w.SetDeadline(time.Now().Add(w.stall))
		n, err := w.writePatiently(piece, b)
		w.bytes += n
		if rest = rest[n:]; err != nil || len(rest) == 0 {
			return len(b) - len(rest), err
		}
	}
}

// Sit sets the seat of the request; nil for none.
func (w *Recorder) Sit(seat *flowcontrol.Seat) {
	if w != nil {
		w.seat, w.patience = seat, nil
	}
}

// Aside runs wait while the request's seat is given up.
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

// Memory is what a request holds of the server's memory.
type Memory interface {
	// Park gives back what the request does not need while it waits for webhooks.
	Park()
	// Resume waits until the request has that again. The error is the cause of ctx.
	Resume(ctx context.Context) error
}

// Hold sets the memory of the request.
func (w *Recorder) Hold(m Memory) {
	if w != nil {
		w.memory = m
	}
}

// Await runs wait, which ends with ctx and in which the request only waits for webhooks. Meanwhile its seat is lent,
// and its memory is parked. The request's goroutine calls it. Errors: flowcontrol.ErrFull if too many requests of its
// user wait, and then wait was not run; the cause of ctx, if the request does not get its memory back before ctx ends.
func (w *Recorder) Await(ctx context.Context, wait func()) error {
	if w == nil {
		wait()
		return nil
	}
	w.EndTurn()
	if w.memory != nil {
		w.memory.Park()
	}
	if w.seat != nil {
		end, err := w.seat.Await(ctx)
		defer w.seat.Return()
		if err != nil {
			return err
		}
		run := wait
		wait = func() {
			defer end() // the request needs no place while it waits for its memory
			run()
		}
	}
	wait()
	if w.memory == nil {
		return nil
	}
	return w.memory.Resume(ctx)
}

// writePatiently writes a piece of all. If that blocks for too long, the request's seat is lent, and the memory of the
// response counts.
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

// Patiently runs a write that may block until the client reads. The bytes of all must not change during it. If it
// blocks for too long, the request's seat is given up.
func (w *Recorder) Patiently(all []byte, write func()) {
	if w == nil {
		write()
		return
	}
	w.backlog.begin(all)
	if w.patience == nil {
		seat := w.seat // a timer that fires late must not give up a seat that the request has got since
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
		w.seat.Return() // if Return comes before Leave, the end of the request returns the seat
	}
}

// FlushError flushes what net/http buffers, with a deadline. It removes the deadline afterwards: over HTTP/2 a deadline
// that passes ends the whole stream, even if nothing is to be sent.
func (w *Recorder) FlushError() error {
	w.extend()
	err := w.flushPatiently()
	if err == nil {
		w.SetDeadline(time.Time{})
	}
	return err
}

func (w *Recorder) flushPatiently() (err error) {
	if w.backlog.isCut() {
		return ErrCutOff
	}
	if w.backlog.kept < patienceKept {
		return w.control.Flush()
	}
	w.Patiently(nil, func() { err = w.control.Flush() })
	return err
}

// Finish sets the deadline for what net/http sends after the handler has returned.
func (w *Recorder) Finish() { w.extend() }

// extend sets a new deadline, unless that was done a moment ago, as Write usually has.
func (w *Recorder) extend() {
	if t := time.Now().Add(w.stall); t.Sub(w.until) > w.stall/16 {
		w.SetDeadline(t)
	}
}

const (
	// sampleEvery: one in so many short responses over HTTP/2 is flushed and counted by us. streamMemory is what each
	// unread response takes: a buffer, headers and a goroutine.
	sampleEvery, streamMemory = 8, 16 << 10
)

// Sample flushes some short responses over HTTP/2 and counts each for all if the client does not read: net/http sends
// them after the handler has returned, and waits for clients that give no flow-control window. If the pool is full,
// Sample closes the connection, as the responses that the sample stands for are on it. w may be nil: there is no
// response.
func (w *Recorder) Sample(c *connections.Conn) {
	if w == nil || w.backlog.isCut() || !c.Samples(sampleEvery) {
		return
	}
	w.query, w.rawQuery = nil, ""
	w.Keep(sampleEvery * streamMemory)
	_ = w.flushPatiently() // an error means that the client is gone
	if w.backlog.isCut() {
		_ = c.Close()
	}
}

// SetDeadline limits writes from now on. Only writers without a connection don't support deadlines.
func (w *Recorder) SetDeadline(t time.Time) {
	w.until = t
	_ = w.control.SetWriteDeadline(t)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack is for upgrades.
func (w *Recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.EndTurn()
	w.begin(http.StatusSwitchingProtocols)
	return w.control.Hijack()
}

// AuditOf returns what the audit log has of a request; nil if it is not recorded.
func AuditOf(r *http.Request) *audit.Record {
	if rec := Of(r); rec != nil {
		return rec.Audit
	}
	return nil
}
