package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/render"
)

// chunks buffers frames and sends them as chunks of one response.
type chunks struct {
	to  http.ResponseWriter
	buf []byte
	// compressed is set if each chunk is a gzip member of its own, which a client can read immediately (V-056).
	compressed bool
	// begun is set when the headers have been sent, and flushed after the first flush.
	begun, flushed bool
}

// write buffers a frame. It sends a long frame immediately, so that watches that share the frame keep no copies of it.
func (c *chunks) write(frame []byte) error {
	if len(frame) >= watchChunk {
		return c.send(frame)
	}
	if c.buf = append(c.buf, frame...); len(c.buf) >= watchChunk {
		return c.send(nil)
	}
	return nil
}

// flush sends the buffer. The first flush follows the initial events and releases the buffer, which may have grown for
// them, because most watches are idle afterwards.
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

// send sends the buffer, and then a frame.
func (c *chunks) send(frame []byte) error {
	c.begun = true
	pieces := [][]byte{c.buf, frame}
	if c.compressed && len(c.buf)+len(frame) > 0 {
		member, err := render.Gzip(pieces...) // before it is sent, so that a slow client does not hold a compressor
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
