package endpoints

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/websocket"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
)

// maxReceived limits the size of a message from the client, which has nothing to send.
const maxReceived = 64 << 10

// serveSocket serves the watch over a WebSocket. Each event is a text message or, for protobuf, a binary one (H-25). A
// client without an Origin header is not a browser, and is served. Upstream rejects it.
func (w *watch) serveSocket() error {
	w.api.watches.sockets.RLock()
	defer w.api.watches.sockets.RUnlock()
	websocket.Server{
		Handshake: func(c *websocket.Config, r *http.Request) (err error) {
			c.Origin, err = websocket.Origin(c, r)
			return err
		},
		Handler: w.streamMessages,
	}.ServeHTTP(w.req.w, w.req.r)
	return nil
}

// closeTimeout is the time for which the end of a watch waits for a client that does not read.
const closeTimeout = time.Second

// streamMessages sends events until the watch ends or the client closes the connection.
func (w *watch) streamMessages(c *websocket.Conn) {
	ctx, cancel := context.WithCancel(w.req.r.Context())
	defer cancel()
	c.MaxPayloadBytes = maxReceived
	var helpers sync.WaitGroup
	defer helpers.Wait()
	helpers.Go(func() {
		defer cancel()
		var ignored []byte
		for websocket.Message.Receive(c, &ignored) == nil {
		}
	})
	helpers.Go(func() {
		select {
		case <-w.api.watches.closing:
		case <-ctx.Done():
		}
		_ = c.SetDeadline(time.Now().Add(closeTimeout)) // for a client that does not read
	})
	w.out = &messages{
		to: c, binary: w.rendering.Format.Media == codec.MediaProtobuf, stall: w.api.WriteTimeout,
		closing: w.api.watches.closing,
	}
	_ = w.stream(ctx) // errors are sent to the client
	cancel()
	_ = c.SetDeadline(time.Now().Add(closeTimeout))
	_ = c.Close() // with a close frame, if the client still reads
}

// messages sends frames as messages.
type messages struct {
	to     *websocket.Conn
	binary bool
	// stall is the time for which the client may leave a message unread.
	stall   time.Duration
	closing <-chan struct{}
}

func (m *messages) write(frame []byte) error {
	if err := m.to.SetWriteDeadline(time.Now().Add(m.stall)); err != nil {
		return err
	}
	select {
	case <-m.closing: // this deadline may have replaced the one of the shutdown
		return errors.New("the server shuts down")
	default:
	}
	codec := textMessage
	if m.binary {
		codec, frame = binaryMessage, frame[render.FrameLength:] // a message has its own length
	}
	return codec.Send(m.to, frame)
}

// textMessage and binaryMessage send bytes without copying them.
var textMessage, binaryMessage = messageOf(websocket.TextFrame), messageOf(websocket.BinaryFrame)

func messageOf(kind byte) websocket.Codec {
	return websocket.Codec{Marshal: func(v any) ([]byte, byte, error) { return v.([]byte), kind, nil }}
}

func (m *messages) flush() error { return nil }
