package endpoints

import (
	"io"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/gzipped"
)

// chunks buffers frames and sends them as chunks of one answer.
type chunks struct {
	to http.ResponseWriter
	// conn is the watch's connection; nil if it doesn't count.
	conn *connections.Conn
	buf  []byte
	// begun says that the head has been sent, flushed that flush was called.
	begun, flushed bool
	// gzip makes one stream of all that is sent, in fragments, so that a client can read each at once (V-056). It writes
	// to packed. nil if the answer is not compressed.
	gzip   *gzipped.Writer
	packed packed
	// reach is where the client is.
	reach gzipped.Reach
}

// packed is compressed, and not sent yet.
type packed struct {
	to  io.Writer
	buf []byte
}

// Write implements io.Writer. It buffers all but long fragments, of which watches that share one keep no copies.
func (p *packed) Write(b []byte) (int, error) {
	if len(b) < watchChunk {
		p.buf = append(p.buf, b...)
		return len(b), nil
	}
	if err := p.send(); err != nil {
		return 0, err
	}
	return p.to.Write(b)
}

func (p *packed) send() error {
	if len(p.buf) == 0 {
		return nil
	}
	_, err := p.to.Write(p.buf)
	p.buf = p.buf[:0]
	return err
}

// compressAll makes the answer a stream of gzip for a client within reach. Nothing may have been sent.
func (c *chunks) compressAll(reach gzipped.Reach) {
	c.reach = reach
	c.packed.to = c.to
	c.gzip = gzipped.NewWriter(&c.packed)
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

// writeFragment is write of frames that are compressed, if the answer is.
func (c *chunks) writeFragment(f *gzipped.Fragment) error {
	if err := c.pack(nil); err != nil {
		return err
	}
	if err := c.gzip.Fragment(f); err != nil {
		return err
	}
	if len(c.packed.buf) >= watchChunk || f.Memory() >= watchChunk {
		return c.send(nil)
	}
	return nil
}

// pack compresses what is buffered and a frame.
func (c *chunks) pack(frame []byte) error {
	if len(c.buf)+len(frame) == 0 {
		return nil
	}
	f, err := compress(c.reach, c.buf, frame)
	if err != nil {
		return err
	}
	c.buf = c.buf[:0]
	return c.gzip.Fragment(f)
}

// compress compresses all pieces before any of them is sent: a client that doesn't read must not hold a compressor.
func compress(reach gzipped.Reach, pieces ...[]byte) (*gzipped.Fragment, error) {
	return gzipped.Compress(reach, func(w io.Writer) error {
		for _, piece := range pieces {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		return nil
	})
}

// flush sends what is buffered. The first one ends the initial events: buffers that have grown for many of them are
// released, as most watches rest from then on.
func (c *chunks) flush() (err error) {
	if len(c.buf)+len(c.packed.buf) > 0 || !c.begun {
		err = c.send(nil)
	}
	if !c.flushed {
		c.flushed = true
		c.buf, c.packed.buf = nil, nil
	}
	return err
}

// end ends the answer.
func (c *chunks) end() {
	if c.gzip != nil && c.gzip.Close() == nil {
		_ = c.packed.send() // a client that went away needs no end
	}
}

// send sends what is buffered, and then a frame.
func (c *chunks) send(frame []byte) error {
	c.begun = true
	if err := c.sendPieces(frame); err != nil {
		return err
	}
	c.buf = c.buf[:0]
	c.conn.Rest() // what was received are acknowledgements
	return http.NewResponseController(c.to).Flush()
}

func (c *chunks) sendPieces(frame []byte) error {
	if c.gzip != nil {
		if err := c.pack(frame); err != nil {
			return err
		}
		return c.packed.send()
	}
	for _, piece := range [][]byte{c.buf, frame} {
		if len(piece) == 0 {
			continue
		}
		if _, err := c.to.Write(piece); err != nil {
			return err
		}
	}
	return nil
}
