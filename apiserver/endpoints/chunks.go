package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/respond"
)

// chunks buffers frames and sends them as chunks of one answer.
type chunks struct {
	to http.ResponseWriter
	// conn is the watch's connection; nil if it doesn't count.
	conn *connections.Conn
	buf  []byte
	// begun says that the head has been sent.
	begun bool
	// compress says that what is sent at once is a member of gzip, so that a client can read it at once (V-056). tail is
	// the end of the last one: see respond.Compress.
	compress bool
	tail     []byte
}

// write sends long frames without buffering: watches that share one keep no copies of it.
func (c *chunks) write(frame []byte) error {
	if len(frame) >= watchChunk {
		return c.send(frame)
	}
	if c.buf = append(c.buf, frame...); len(c.buf) >= watchChunk {
		return c.flush()
	}
	return nil
}

func (c *chunks) flush() error {
	if len(c.buf) == 0 && c.begun {
		return nil
	}
	return c.send(nil)
}

// end ends the answer.
func (c *chunks) end() {
	if len(c.tail) > 0 {
		_, _ = c.to.Write(c.tail) // a client that went away needs no end
	}
}

// send sends what is buffered, and then a frame.
func (c *chunks) send(frame []byte) error {
	c.begun = true
	pieces := [][]byte{c.buf, frame}
	if c.compress && len(c.buf)+len(frame) > 0 {
		// It is compressed before it is sent: a client that doesn't read must not hold a compressor.
		member, end, err := respond.Compress(pieces...)
		if err != nil {
			return err
		}
		pieces, c.tail = [][]byte{c.tail, member}, end
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
	c.conn.Rest() // what was received are acknowledgements
	return http.NewResponseController(c.to).Flush()
}
