package apiserver

import (
	"net/http"
)

// chunks gathers frames and sends them in pieces of a chunked answer.
type chunks struct {
	to  http.ResponseWriter
	buf []byte
	// begun says that the head has been sent.
	begun bool
}

func (c *chunks) write(frame []byte) error {
	if c.buf = append(c.buf, frame...); len(c.buf) >= watchChunk {
		return c.flush()
	}
	return nil
}

func (c *chunks) flush() error {
	if len(c.buf) == 0 && c.begun {
		return nil
	}
	c.begun = true
	if len(c.buf) > 0 {
		if _, err := c.to.Write(c.buf); err != nil {
			return err
		}
		if c.buf = c.buf[:0]; cap(c.buf) > 4*watchChunk {
			c.buf = nil
		}
	}
	return http.NewResponseController(c.to).Flush()
}
