package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// target is a server with the client's configuration.
type target struct {
	url   *url.URL
	tls   *tls.Config
	token string
	// pid is the server's process; 0 if it isn't a known process of this machine.
	pid int
	// namespace is the namespace of the cases' objects.
	namespace string
}

// conn is one client: a connection with one request in flight. It uses little processor time, as it shares the machine
// with the server; net/http's client would use as much as the server does.
type conn struct {
	c    net.Conn
	r    *bufio.Reader
	head string
	out  []byte
	in   bytes.Buffer
}

func (t *target) dial(ctx context.Context) (*conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", t.url.Host)
	if err != nil {
		return nil, err
	}
	if t.url.Scheme == "https" {
		config := t.tls.Clone()
		if config.ServerName == "" {
			config.ServerName = t.url.Hostname()
		}
		config.NextProtos = []string{"http/1.1"}
		secure := tls.Client(c, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		c = secure
	}
	k := &conn{c: c, r: bufio.NewReaderSize(c, 32<<10), head: " HTTP/1.1\r\nHost: " + t.url.Host + "\r\n"}
	if t.token != "" {
		k.head += "Authorization: Bearer " + t.token + "\r\n"
	}
	return k, nil
}

func (c *conn) close() { _ = c.c.Close() }

// send writes a request and reads the head of its answer. header has whole lines.
func (c *conn) send(method, path, header string, body []byte) (*http.Response, error) {
	c.out = append(append(append(append(c.out[:0], method...), ' '), path...), c.head...)
	c.out = append(c.out, header...)
	if body != nil {
		c.out = append(c.out, "Content-Length: "...)
		c.out = strconv.AppendInt(c.out, int64(len(body)), 10)
		c.out = append(c.out, "\r\n"...)
	}
	c.out = append(append(c.out, "\r\n"...), body...)
	if _, err := c.c.Write(c.out); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(c.r, nil)
	if err == nil && res.StatusCode >= 300 {
		text, _ := io.ReadAll(res.Body) // an unreadable body can't be shown
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	return res, err
}

// do makes a request and returns the response's body, which is valid until the next request.
func (c *conn) do(method, path, header string, body []byte) ([]byte, error) {
	res, err := c.send(method, path, header, body)
	if err != nil {
		return nil, err
	}
	c.in.Reset()
	_, err = c.in.ReadFrom(res.Body)
	return c.in.Bytes(), err
}

// The headers for bodies.
const (
	asJSON  = "Content-Type: application/json\r\n"
	asPatch = "Content-Type: application/merge-patch+json\r\n"
)

// once makes one request over a connection of its own.
func (t *target) once(ctx context.Context, method, path, header string, body []byte) ([]byte, error) {
	c, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.do(method, path, header, body)
}

// watch reads a watch's events until each returns false; the channel then has the error, or nil.
func (t *target) watch(ctx context.Context, path string, each func(frame []byte) bool) (<-chan error, error) {
	c, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	res, err := c.send(http.MethodGet, path, "", nil)
	if err != nil {
		c.close()
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		defer c.close()
		defer context.AfterFunc(ctx, c.close)()
		lines := bufio.NewReaderSize(res.Body, 64<<10)
		for {
			frame, err := lines.ReadSlice('\n')
			for err == bufio.ErrBufferFull { // the rest of a long frame isn't needed
				_, err = lines.ReadSlice('\n')
			}
			if err != nil {
				done <- fmt.Errorf("watching %s: %w", path, err)
				return
			}
			if !each(frame) {
				done <- nil
				return
			}
		}
	}()
	return done, nil
}

// until is watch until it has seen n events of the type.
func (t *target) until(ctx context.Context, path, change string, n int) (<-chan error, error) {
	prefix := []byte(`{"type":"` + change)
	return t.watch(ctx, path, func(frame []byte) bool {
		if bytes.HasPrefix(frame, prefix) {
			n--
		}
		return n > 0
	})
}

// wait returns how long it took until the channel received.
func wait(done <-chan error, began time.Time) (time.Duration, error) {
	err := <-done
	return time.Since(began), err
}
