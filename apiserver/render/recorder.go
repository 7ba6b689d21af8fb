package render

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/metrics"
)

// writeAtOnce is the number of bytes that have one write deadline.
const writeAtOnce = 256 << 10

// Recorder records the status and the size of a response, for metrics and the audit log. It ends the response of a
// client that does not read. Each write has its own deadline, so a large response over a slow connection may take long.
type Recorder struct {
	http.ResponseWriter
	control *http.ResponseController
	// timeout is the time for which a client may leave writeAtOnce bytes unread.
	timeout time.Duration
	// until is the deadline of writes, or zero.
	until time.Time
	code  int
	bytes int
	// Received is the time at which the request arrived.
	Received time.Time
	// Audit is the request's record in the audit log. It is nil if the request is not recorded.
	Audit *audit.Record
	// Lost is set if the response is only recorded, and the connection is closed instead.
	Lost bool
	// Label has the labels of the request in metrics. It is empty before routing.
	Label metrics.Label
}

// recorderKey is the context key of a request's Recorder.
type recorderKey struct{}

// Record returns a Recorder for the response, and the request with the Recorder in its context.
func Record(w http.ResponseWriter, r *http.Request, timeout time.Duration) (*Recorder, *http.Request) {
	rec := &Recorder{
		ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout, Received: time.Now(),
	}
	return rec, r.WithContext(context.WithValue(r.Context(), recorderKey{}, rec))
}

// RecorderOf returns the Recorder of a request, or nil if it has none.
func RecorderOf(r *http.Request) *Recorder {
	rec, _ := r.Context().Value(recorderKey{}).(*Recorder)
	return rec
}

// AuditOf returns the request's record in the audit log, or nil if it is not recorded.
func AuditOf(r *http.Request) *audit.Record {
	if rec := RecorderOf(r); rec != nil {
		return rec.Audit
	}
	return nil
}

// Answered returns the status code and the size of the body. The code is 0 if the response has not started.
func (w *Recorder) Answered() (code, bytes int) { return w.code, w.bytes }

// Begun reports whether the response has started.
func (w *Recorder) Begun() bool { return w.code != 0 }

// WriteHeader implements http.ResponseWriter.
func (w *Recorder) WriteHeader(code int) {
	w.Begin(code)
	w.ResponseWriter.WriteHeader(code)
}

// Begin records the status code before it is sent.
func (w *Recorder) Begin(code int) {
	if w.code == 0 {
		w.code = code
		w.Audit.Started(code)
	}
}

// Write implements http.ResponseWriter.
func (w *Recorder) Write(b []byte) (n int, err error) {
	w.Begin(http.StatusOK)
	for first := true; first || len(b) > 0 && err == nil; first = false {
		w.extend()
		var written int
		written, err = w.ResponseWriter.Write(b[:min(len(b), writeAtOnce)])
		n, b = n+written, b[written:]
	}
	w.bytes += n
	return n, err
}

// FlushError flushes the buffer of net/http. The next write may be much later, so it removes the deadline: over HTTP/2
// a missed deadline ends the stream.
func (w *Recorder) FlushError() error {
	w.Begin(http.StatusOK)
	w.extend()
	err := w.control.Flush()
	if err == nil {
		w.setDeadline(time.Time{})
	}
	return err
}

// Send flushes the rest of a complete response. An error means that the client has disconnected, or is too slow.
func (w *Recorder) Send() error {
	w.extend()
	return w.control.Flush()
}

// Finish sets the deadline for the rest, which net/http sends after the handler has returned.
func (w *Recorder) Finish() { w.extend() }

// extend sets a new deadline, unless the last one is almost the same.
func (w *Recorder) extend() {
	if t := time.Now().Add(w.timeout); t.Sub(w.until) > w.timeout/16 {
		w.setDeadline(t)
	}
}

func (w *Recorder) setDeadline(t time.Time) {
	w.until = t
	_ = w.control.SetWriteDeadline(t) // only writers without a connection have no deadlines
}

// Unwrap returns the original writer to http.ResponseController.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker for WebSockets.
func (w *Recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.Begin(http.StatusSwitchingProtocols)
	return w.control.Hijack()
}
