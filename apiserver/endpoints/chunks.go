package endpoints

import (
	"bytes"
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
	// compress says that what is sent at once is a member of gzip, so that a client can read it at once (V-056).
	compress bool
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

// send sends what is buffered, and then a frame.
func (c *chunks) send(frame []byte) error {
	c.begun = true
	pieces := [][]byte{c.buf, frame}
	if c.compress && len(c.buf)+len(frame) > 0 {
		// It is compressed before it is sent: a client that doesn't read must not hold a compressor.
		var b bytes.Buffer
		if err := respond.Compress(&b, pieces...); err != nil {
			return err
		}
		pieces = [][]byte{b.Bytes()}
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
