package exchange

import (
	"io"

	"github.com/kubecascade/kubecascade/apiserver/pool"
)

// CountHead counts the URL and headers of a request until endHead, or until the request is cut off: then cut is called,
// and its body isn't waited for. It reports false if there is no room.
func (w *Recorder) CountHead(p *pool.Pool, user string, bytes int64, body io.ReadCloser, cut func()) bool {
	w.head = p.Begin(user, func(reading bool) {
		cut()
		if reading {
			cutBody(body)
		}
	})
	return w.head.Take(int(bytes))
}

// HeadRead says that the request's body is read.
func (w *Recorder) HeadRead() {
	if w != nil && w.head != nil {
		w.head.Read()
	}
}

// ServeHead says that the request has its seat: it isn't cut off for its head any more. False: it was.
func (w *Recorder) ServeHead() bool { return w == nil || w.head == nil || w.head.Serve() }

// EndHead gives back what the head counts for. It counts with the watch from then on.
func (w *Recorder) EndHead() {
	if w != nil && w.head != nil {
		w.head.End()
	}
}
