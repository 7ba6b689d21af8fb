package exchange

import (
	"io"

	"github.com/kubecascade/kubecascade/apiserver/pool"
)

// CountHead counts the URL and headers of a request until EndHead. If the request is cut off, cut is called and its
// body is not read any more. It returns false if the pool is full.
func (w *Recorder) CountHead(p *pool.Pool, user string, bytes int64, body io.ReadCloser, cut func()) bool {
	w.count = func(p *pool.Pool, user string) bool {
		w.EndHead()
		w.head = p.Begin(user, func(reading bool) {
			cut()
			if reading {
				cutBody(body)
			}
		})
		return w.head.Take(int(bytes))
	}
	return w.count(p, user)
}

// RecountHead counts what CountHead has counted, if it has, in the pool of another user. It returns false if that is
// full.
func (w *Recorder) RecountHead(p *pool.Pool, user string) bool {
	return w == nil || w.count == nil || w.count(p, user)
}

// HeadRead records that the request's body is read.
func (w *Recorder) HeadRead() {
	if w != nil && w.head != nil {
		w.head.Read()
	}
}

// ServeHead records that the request has a seat, so its head can't be cut off any more. It returns false if the request
// was cut off before.
func (w *Recorder) ServeHead() bool { return w == nil || w.head == nil || w.head.Serve() }

// EndHead releases the memory of the head. The head of a watch counts with the watch from then on.
func (w *Recorder) EndHead() {
	if w != nil && w.head != nil {
		w.head.End()
	}
}
