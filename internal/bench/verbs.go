package main

import (
	"context"
	"fmt"
	"net/http"
)

// load is writes and reads by 1 and by 32 clients.
func (b *bench) load(ctx context.Context) (rows []row, err error) {
	return rows, b.serve(ctx, func(t *target) error {
		url := t.path("configmaps")
		for _, clients := range []int{1, 32} {
			n := b.objects
			if clients == 1 {
				n /= 5
			}
			name := func(i int) string { return fmt.Sprintf("%s/c%d-%d", url, clients, i) }
			etcd := func(what string) float64 { return b.limit(ctx, etcdRow(what, clients)) }
			plain := b.limit(ctx, fmt.Sprintf("plain handler of 512 B, %d clients", clients))
			for _, k := range []struct {
				verb  string
				limit float64
				do    func(c *conn, i int) ([]byte, error)
			}{
				{"create", etcd("create"), func(c *conn, i int) ([]byte, error) {
					return c.do(
						http.MethodPost, url, asJSON, fmt.Appendf(nil, `{"metadata":{"name":"c%d-%d"},"data":{"k":"v"}}`, clients, i),
					)
				}},
				{"get", plain, func(c *conn, i int) ([]byte, error) {
					return c.do(http.MethodGet, name(i%n), "", nil)
				}},
				{"merge patch", etcd("update"), func(c *conn, i int) ([]byte, error) {
					return c.do(http.MethodPatch, name(i), asPatch, []byte(`{"data":{"k":"w"}}`))
				}},
				{"delete", etcd("delete"), func(c *conn, i int) ([]byte, error) {
					return c.do(http.MethodDelete, name(i), "", nil)
				}},
			} {
				times := n
				if k.verb == "get" {
					times *= 4
				}
				m, err := t.drive(ctx, clients, times, func(c *conn, i int) error {
					_, err := k.do(c, i)
					return err
				})
				if err != nil {
					return err
				}
				rows = append(rows, m.row(fmt.Sprintf("%s, %d clients", k.verb, clients)).limited(k.limit))
			}
		}
		return nil
	})
}
