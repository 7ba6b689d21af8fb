package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/render"
)

// chunks buffers frames and sends them as chunks of one response.
type chunks struct {
	to  http.ResponseWriter
	buf []byte
	// compressed is set if each chunk is a member of a gzip stream, which a client can read at once (V-056).
	compressed bool
	// begun is set when the head has been sent, flushed when flush was called.
	begun, flushed bool
}

// write sends long frames without buffering: watches that share one keep no copies of it.
func (c *chunks) write(frame []byte) error {
	if len(frame) >= watchChunk {
		return c.send(frame)
	}
	if c.buf = append(c.buf, frame...); len(c.buf) >= watchChunk {
		return c.send(nil)
	}
	return nil
}

// flush sends what is buffered. The first one ends the initial events: a buffer that has grown for many of them is
// released, as most watches rest from then on.
func (c *chunks) flush() (err error) {
	if len(c.buf) > 0 || !c.begun {
		err = c.send(nil)
	}
	if !c.flushed {
		c.flushed = true
		c.buf = nil
	}
	return err
}

// send sends what is buffered, and then a frame.
func (c *chunks) send(frame []byte) error {
	c.begun = true
	pieces := [][]byte{c.buf, frame}
	if c.compressed && len(c.buf)+len(frame) > 0 {
		member, err := render.Gzip(pieces...) // before it is sent: a slow client must not hold a compressor
		if err != nil {
			return err
		}
		pieces = [][]byte{member}
	}
	for _, piece := range pieces {
		if len(piece) == 0 {
			continue
		}
		if _, err := c.to.Write(piece); err != nil {
			return err
		}
	}
	c.buf = c.buf[:0]
	return http.NewResponseController(c.to).Flush()
}
