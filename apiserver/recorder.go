package apiserver

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// writeAtOnce is how many bytes a client must take within Config.WriteTimeout.
const writeAtOnce = 256 << 10

// recorder remembers what was answered, and cuts off clients that don't read.
type recorder struct {
	http.ResponseWriter
	code  int
	bytes int
	// stall is how long the client may leave writeAtOnce bytes unread.
	stall time.Duration
	// until is the present deadline; zero is none.
	until time.Time
	// label is how metrics call the request; empty until it has been routed.
	label requestLabel
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

// queryOf returns the parameters of a request, which are parsed once. They are not to be changed.
func queryOf(r *http.Request) url.Values {
	rec := recorderOf(r)
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
	// slice is how many bytes are written before others have a turn: a tenth of a millisecond. Another processor may take
	// the request over then, which costs some microseconds.
	slice = 256 << 10
)

// requestLabel is kube-apiserver's labels of a request. dryRun is "All" or empty.
type requestLabel struct{ verb, group, version, resource, subresource, scope, dryRun string }

// labelOf names a request as kube-apiserver does (AS pkg/endpoints/metrics: CleanScope): two verbs by
// their methods, the others by their names, and a create as of the one object that it makes.
func labelOf(t registry.Target, verb string) requestLabel {
	l := requestLabel{verb: strings.ToUpper(verb), group: t.Resource.Group, version: t.Resource.Version, resource: t.Resource.Plural, scope: "cluster"}
	switch verb {
	case "create":
		l.verb = http.MethodPost
	case "update":
		l.verb = http.MethodPut
	}
	switch {
	case t.Name != "" || verb == "create":
		l.scope = "resource"
	case t.Namespace != "":
		l.scope = "namespace"
	}
	if t.Subresource != nil {
		l.subresource = t.Subresource.Name
	}
	return l
}

func (l requestLabel) resourceOf() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: l.group, Version: l.version, Resource: l.resource}
}

// scoped are the values of the labels that all metrics of requests have; tried are those with dryRun.
func (l requestLabel) scoped() []string {
	return []string{l.verb, l.group, l.version, l.resource, l.subresource, l.scope}
}

func (l requestLabel) tried() []string { return append(l.scoped(), l.dryRun) }

// WriteHeader notes the code of the answer.
func (w *recorder) WriteHeader(code int) {
	w.endTurn()
	if w.code == 0 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write writes in pieces, each with a deadline of its own, so that a large answer may take long on
// a slow line, and one that isn't read at all ends.
func (w *recorder) Write(b []byte) (int, error) {
	w.endTurn()
	if w.code == 0 {
		w.code = http.StatusOK
	}
	rest := b
	for {
		piece := rest[:min(len(rest), writeAtOnce)]
		w.deadline(time.Now().Add(w.stall))
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

// newRecorder returns what answers are written to by clients who may leave writeAtOnce bytes unread for so long.
func newRecorder(w http.ResponseWriter, stall time.Duration) *recorder {
	return &recorder{ResponseWriter: w, stall: stall}
}

// answered is the code and the bytes that were answered.
func (w *recorder) answered() (code, bytes int) { return w.code, w.bytes }

// begun reports whether the answer has begun.
func (w *recorder) begun() bool { return w.code != 0 }

// sit says which seat the request has from now on; nil for none.
func (w *recorder) sit(seat *flowcontrol.Seat) {
	if w != nil {
		w.seat, w.patience = seat, nil
	}
}

// aside runs wait while others have the seat of the request.
func (w *recorder) aside(wait func()) {
	w.endTurn()
	if w == nil || w.seat == nil {
		wait()
		return
	}
	w.seat.Leave()
	defer w.seat.Return()
	wait()
}

// writePatiently writes a piece of what is to be written in all; if that takes long, others have a seat of the request's
// meanwhile, and what the answer keeps counts.
func (w *recorder) writePatiently(piece, all []byte) (n int, err error) {
	if w.backlog.isCut() {
		return 0, errCutOff
	}
	if len(piece) < patienceFrom && w.backlog.kept < patienceKept {
		return w.ResponseWriter.Write(piece)
	}
	w.patiently(all, func() { n, err = w.ResponseWriter.Write(piece) })
	return n, err
}

// patiently runs what may have to wait for the client to take some of the bytes, which don't change meanwhile. The
// request keeps its seat meanwhile only if that is short.
func (w *recorder) patiently(all []byte, write func()) {
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
func (w *recorder) FlushError() error {
	w.extend()
	err := w.flushPatiently()
	if err == nil {
		w.deadline(time.Time{})
	}
	return err
}

func (w *recorder) flushPatiently() (err error) {
	c := http.NewResponseController(w.ResponseWriter)
	if w.backlog.isCut() {
		return errCutOff
	}
	if w.backlog.kept < patienceKept {
		return c.Flush()
	}
	w.patiently(nil, func() { err = c.Flush() })
	return err
}

// finish bounds what net/http sends when the handler has returned.
func (w *recorder) finish() { w.extend() }

// extend sets the deadline anew, unless that was done just now: as a rule Write has.
func (w *recorder) extend() {
	if t := time.Now().Add(w.stall); t.Sub(w.until) > w.stall/16 {
		w.deadline(t)
	}
}

const (
	// sampleEvery is of how many answers over HTTP/2 one is waited for that net/http would send by itself, and
	// streamMemory what each that isn't read keeps: a buffer, headers and a goroutine.
	sampleEvery, streamMemory = 8, 16 << 10
)

// sample sends some short answers over HTTP/2 at once, and counts them for all if the client doesn't read: net/http
// sends them when the handler has returned, and waits for clients that give them no window. If there is no room for one
// it ends the connection, as the others that it stands for are on it. w may be nil: nothing was answered.
func (w *recorder) sample(c *connections.Conn) {
	if w == nil || w.backlog.isCut() || !c.Samples(sampleEvery) {
		return
	}
	w.query, w.rawQuery = nil, ""
	w.keep(sampleEvery * streamMemory)
	_ = w.flushPatiently() // if that fails, the client is gone
	if w.backlog.isCut() {
		_ = c.Close()
	}
}

// deadline bounds writes from now on. Only writers without a connection don't know deadlines.
func (w *recorder) deadline(t time.Time) {
	w.until = t
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack is passed on for upgrades.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.endTurn()
	if w.code == 0 {
		w.code = http.StatusSwitchingProtocols
	}
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// headPatience is how long a body may take that comes after its answer, as net/http reads it.
const headPatience = time.Second

// timedBody bounds how long a client may take to send its body, whoever reads it: what a handler has
// left net/http reads before it answers. Over HTTP/1 the deadline is taken back at the end, for while a handler
// works net/http reads on to notice a hang-up, and would take a missed deadline for one. Over HTTP/2 it is the stream's.
type timedBody struct {
	body  io.ReadCloser
	proto int
	// set changes the connection's deadline.
	set func(time.Time) error
	// ended says that there is nothing left to read.
	ended bool
}

// newTimedBody sets the deadline.
func newTimedBody(w http.ResponseWriter, r *http.Request, deadline time.Time) *timedBody {
	b := &timedBody{body: r.Body, proto: r.ProtoMajor, set: http.NewResponseController(w).SetReadDeadline}
	_ = b.set(deadline) // a writer without a connection has no slow client
	return b
}

// Read reads on; the error is os.ErrDeadlineExceeded if the client took too long.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.ended = b.ended || err != nil
	if err != nil && !os.IsTimeout(err) && b.proto < 2 {
		_ = b.set(time.Time{})
	}
	return n, err
}

// cutBody ends the wait for a body that comes slowly.
func cutBody(body io.ReadCloser) {
	if b, ok := body.(*timedBody); ok {
		_ = b.set(time.Unix(1, 0))
	}
}

// wait bounds how long the rest of the body is waited for.
func (b *timedBody) wait(d time.Duration) {
	_ = b.set(time.Now().Add(d)) // without a connection there is nobody to wait for
}

// hurry bounds how long net/http reads what the handler has left, as it does before it answers. It is called when the
// handler has returned.
func (b *timedBody) hurry() {
	if !b.ended {
		_ = b.set(time.Now().Add(headPatience))
	}
}

// Close closes the body.
func (b *timedBody) Close() error { return b.body.Close() }

type recorderKey struct{}

// record returns the request with what records its answer.
func (w *recorder) record(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), recorderKey{}, w))
}

// recorderOf is what records a request's answer; nil if nothing does.
func recorderOf(r *http.Request) *recorder { return recorderIn(r.Context()) }

// recorderIn is that of a request's context.
func recorderIn(ctx context.Context) *recorder {
	rec, _ := ctx.Value(recorderKey{}).(*recorder)
	return rec
}

// hold says that the request has a turn.
func (w *recorder) hold(t *turns.Turns[connections.Owner]) { w.turn = t }

// inTurn reports whether the request has a turn.
func (w *recorder) inTurn() bool { return w.turn != nil }

// endTurn ends the request's turn, if it has one.
func (w *recorder) endTurn() {
	if w != nil && w.turn != nil {
		w.turn.End(turns.Now)
		w.turn = nil
	}
}

// close gives back what the request has.
func (w *recorder) close() {
	w.endTurn()
	w.backlog.close()
}

// countHead counts the URL and headers of a request until endHead, or until the request is cut off: then cut is called,
// and its body isn't waited for. It reports false if there is no room.
func (w *recorder) countHead(p *pool.Pool, user string, bytes int64, body io.ReadCloser, cut func()) bool {
	w.head = p.Begin(user, func(reading bool) {
		cut()
		if reading {
			cutBody(body)
		}
	})
	return w.head.Take(int(bytes))
}

// headRead says that the request's body is read.
func (w *recorder) headRead() {
	if w != nil && w.head != nil {
		w.head.Read()
	}
}

// serveHead says that the request has its seat: it isn't cut off for its head any more. False: it was.
func (w *recorder) serveHead() bool { return w == nil || w.head == nil || w.head.Serve() }

// endHead gives back what the head counts for. It counts with the watch from then on.
func (w *recorder) endHead() {
	if w != nil && w.head != nil {
		w.head.End()
	}
}
