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

// writeAtOnce is how many bytes a client must read within the time limit of a write.
const writeAtOnce = 256 << 10

// Recorder records the status and the size of a response for metrics and the audit log. It ends the responses of
// clients that don't read: each write has a deadline of its own, so a large response may take long on a slow line.
type Recorder struct {
	http.ResponseWriter
	control *http.ResponseController
	// timeout is how long the client may leave writeAtOnce bytes unread.
	timeout time.Duration
	// until is the deadline of writes; zero for none.
	until time.Time
	code  int
	bytes int
	// Received is when the request arrived.
	Received time.Time
	// Audit is what the audit log has of the request; nil if it is not recorded.
	Audit *audit.Record
	// Label has the labels of the request in metrics; empty until it has been routed.
	Label metrics.Label
}

// recorderKey is the key of a request's Recorder in its context.
type recorderKey struct{}

// Record returns a Recorder of the response, and the request with it in its context.
func Record(w http.ResponseWriter, r *http.Request, timeout time.Duration) (*Recorder, *http.Request) {
	rec := &Recorder{
		ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout, Received: time.Now(),
	}
	return rec, r.WithContext(context.WithValue(r.Context(), recorderKey{}, rec))
}

// RecorderOf returns the Recorder of a request; nil if it has none.
func RecorderOf(r *http.Request) *Recorder {
	rec, _ := r.Context().Value(recorderKey{}).(*Recorder)
	return rec
}

// AuditOf returns what the audit log has of a request; nil if it is not recorded.
func AuditOf(r *http.Request) *audit.Record {
	if rec := RecorderOf(r); rec != nil {
		return rec.Audit
	}
	return nil
}

// Answered returns the status code and the size of the body; the code is 0 if the response has not begun.
func (w *Recorder) Answered() (code, bytes int) { return w.code, w.bytes }

// Begun reports whether the response has begun.
func (w *Recorder) Begun() bool { return w.code != 0 }

// WriteHeader implements http.ResponseWriter.
func (w *Recorder) WriteHeader(code int) {
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

// Write implements http.ResponseWriter.
func (w *Recorder) Write(b []byte) (n int, err error) {
	w.begin(http.StatusOK)
	for first := true; first || len(b) > 0 && err == nil; first = false {
		w.extend()
		var written int
		written, err = w.ResponseWriter.Write(b[:min(len(b), writeAtOnce)])
		n, b = n+written, b[written:]
	}
	w.bytes += n
	return n, err
}

// FlushError flushes what net/http buffers. Nothing is to be sent after it, so it removes the deadline: over HTTP/2 one
// that passes ends the whole stream.
func (w *Recorder) FlushError() error {
	w.begin(http.StatusOK)
	w.extend()
	err := w.control.Flush()
	if err == nil {
		w.setDeadline(time.Time{})
	}
	return err
}

// Send sends what net/http buffers of a response that is complete. An error means that the client is gone, or too slow.
func (w *Recorder) Send() error {
	w.extend()
	return w.control.Flush()
}

// Finish sets the deadline for what net/http sends after the handler has returned.
func (w *Recorder) Finish() { w.extend() }

// extend sets a new deadline, unless that was done a moment ago.
func (w *Recorder) extend() {
	if t := time.Now().Add(w.timeout); t.Sub(w.until) > w.timeout/16 {
		w.setDeadline(t)
	}
}

func (w *Recorder) setDeadline(t time.Time) {
	w.until = t
	_ = w.control.SetWriteDeadline(t) // only writers without a connection have no deadlines
}

// Unwrap is for http.ResponseController.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker, for WebSockets.
func (w *Recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.begin(http.StatusSwitchingProtocols)
	return w.control.Hijack()
}
