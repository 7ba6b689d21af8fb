package attack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// watches are costly to keep.
func watches() []Attack {
	const terms = 90_000
	open := func(selector string) func(ctx context.Context, a *Attacker) error {
		return func(ctx context.Context, a *Attacker) error {
			var changing sync.WaitGroup
			changing.Go(func() { a.change(ctx, 100) })
			defer changing.Wait()
			return a.watch(ctx, 100, configMaps+"?watch=1&"+selector)
		}
	}
	return []Attack{
		{
			Group: "watches", Name: "label-selectors", Answers: 1,
			Does: "Opens 100 watches whose label selectors have 90,000 terms, and changes an object all the time.",
			Run: func(ctx context.Context, a *Attacker) error {
				return open("labelSelector="+items(terms, numbered("!k")))(ctx, a)
			},
		},
		{
			Group: "watches", Name: "label-values", Answers: 1,
			Does: "Does the same with one term of 90,000 values.",
			Run: func(ctx context.Context, a *Attacker) error {
				return open("labelSelector=k+notin+("+items(terms, numbered("v"))+")")(ctx, a)
			},
		},
		{
			Group: "watches", Name: "field-selectors", Answers: 1,
			Does: "Does the same with 35,000 terms about the object's name.",
			Run: func(ctx context.Context, a *Attacker) error {
				return open("fieldSelector="+items(35_000, numbered("metadata.name!=n")))(ctx, a)
			},
		},
		{
			Group: "watches", Name: "terms", Answers: 200,
			Does: "Opens 1,000 watches whose label selectors have 8,000 terms, as many as are allowed.",
			Run: func(ctx context.Context, a *Attacker) error {
				path := configMaps + "?watch=1&labelSelector=" + items(8000, numbered("!k"))
				return a.dribble(ctx, 1000, head("GET", path, attacker)+"\r\n")
			},
		},
		{
			Group: "watches", Name: "headers", Answers: 200,
			Does: "Opens 2,000 watches with headers of 400 KB.",
			Run: func(ctx context.Context, a *Attacker) error {
				long := "X-Long: " + strings.Repeat("x", 400_000) + "\r\n"
				return a.dribble(ctx, 2000, head("GET", configMaps+"?watch=1", attacker)+long+"\r\n")
			},
		},
		{
			Group: "watches", Name: "tables", Answers: 200,
			Does: "Opens 1,000 watches of Tables that it doesn't read, and changes an object of 900 KB all the time.",
			Run: func(ctx context.Context, a *Attacker) error {
				var changing sync.WaitGroup
				changing.Go(func() { a.change(ctx, 900<<10) })
				defer changing.Wait()
				return a.dribble(ctx, 1000, head("GET", configMaps+"?watch=1&includeObject=Object", attacker)+
					"Accept: application/json;as=Table;g=meta.k8s.io;v=v1\r\n\r\n")
			},
		},
		{
			Group: "watches", Name: "sockets", Answers: 200,
			Does: "Does the same over WebSockets, of objects.",
			Run: func(ctx context.Context, a *Attacker) error {
				var changing sync.WaitGroup
				changing.Go(func() { a.change(ctx, 900<<10) })
				defer changing.Wait()
				return a.dribble(ctx, 1000, head("GET", configMaps+"?watch=1", attacker)+"Connection: Upgrade\r\n"+
					"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YXR0YWNraW5nYXR0YWNraQ==\r\n\r\n")
			},
		},
		{
			Group: "watches", Name: "many", Answers: 1000,
			Does: "Opens 1,000 watches, and changes an object all the time.",
			Run: func(ctx context.Context, a *Attacker) error {
				var changing sync.WaitGroup
				changing.Go(func() { a.change(ctx, 100) })
				defer changing.Wait()
				return a.watch(ctx, 1000, configMaps+"?watch=1")
			},
		},
	}
}

// watch keeps n watches open until ctx ends, each on a connection of its own, and reads them.
func (a *Attacker) watch(ctx context.Context, n int, path string) error {
	c := a.client(attacker, false)
	defer c.close()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				a.read(ctx, c, path)
			}
		})
	}
	all.Wait()
	return nil
}

// read opens a watch and reads it to its end.
func (a *Attacker) read(ctx context.Context, c *Client, path string) {
	res, err := c.open(ctx, Request{Method: http.MethodGet, Path: path}, nil)
	if err != nil {
		a.count(ctx, 0, err)
		return
	}
	defer res.Body.Close()
	a.count(ctx, res.StatusCode, nil)
	for buf := make([]byte, 32<<10); err == nil; {
		_, err = res.Body.Read(buf)
	}
}

// numbered is the beginning of a term, with a number behind it.
func numbered(beginning string) func(i int) string {
	return func(i int) string { return fmt.Sprintf("%s%05d", beginning, i) }
}
