package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// How clients request other representations.
const (
	asTable    = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json\r\n"
	asMetadata = "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json\r\n"
)

// lists measures collections of 2,200 objects of 1.4 KiB (3.2 MiB, as upstream's own figure), and of 20,000.
func (b *bench) lists(ctx context.Context) (rows []row, err error) {
	for _, n := range []int{2200, 20000} {
		if err := b.serve(ctx, func(t *target) error {
			if err := t.fill(ctx, "configmaps", n, 1024, func(i int) string {
				return fmt.Sprintf(`"one":"in%d"`, i%100)
			}); err != nil {
				return err
			}
			r, err := b.listed(ctx, t, n)
			rows = append(rows, r...)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// fill creates n objects with so many bytes of data.
func (t *target) fill(ctx context.Context, resource string, n, size int, labels func(i int) string) error {
	data := strings.Repeat("x", size)
	_, err := t.drive(ctx, 32, n, func(c *conn, i int) error {
		_, err := c.do(
			http.MethodPost, t.path(resource), asJSON,
			fmt.Appendf(nil, `{"metadata":{"name":"%06d","labels":{%s}},"data":{"k":%q}}`, i, labels(i), data),
		)
		return err
	})
	return err
}

// listed lists a collection in each representation.
func (b *bench) listed(ctx context.Context, t *target, n int) (rows []row, err error) {
	path := t.path("configmaps")
	for _, k := range []struct{ what, query, header string }{
		{"JSON", "", ""},
		{"Table", "", asTable},
		{"metadata only", "", asMetadata},
		{"a selector of nothing", "?labelSelector=one%3Dnothing", ""},
		{"a selector of 1 %", "?labelSelector=one%3Din7", ""},
	} {
		size := 0
		m, err := t.drive(ctx, 1, max(10, 440000/n), func(c *conn, _ int) error {
			data, err := c.do(http.MethodGet, path+k.query, k.header, nil)
			size = len(data)
			return err
		})
		if err != nil {
			return nil, err
		}
		limit := 0.0
		if size > 1<<10 {
			limit = b.bytesLimit(ctx, size)
		}
		rows = append(rows, m.row(fmt.Sprintf("list of %d, %s, %.3g MiB", n, k.what, float64(size)/(1<<20))).limited(limit))
	}
	m, err := t.drive(ctx, 1, 10, func(c *conn, _ int) error { return pages(c, path) })
	return append(rows, m.row(fmt.Sprintf("list of %d, all pages of 100", n))), err
}

// pages lists everything, 100 objects at a time.
func pages(c *conn, path string) error {
	next := ""
	for {
		data, err := c.do(http.MethodGet, path+"?limit=100&continue="+url.QueryEscape(next), "", nil)
		if err != nil {
			return err
		}
		if i := strings.Index(string(data[:min(len(data), 1<<10)]), `"items":[`); i > 0 {
			data = append(data[:i:i], `"items":null}`...) // only the list's metadata matters here
		}
		var list struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return fmt.Errorf("decoding a page: %w", err)
		}
		if next = list.Metadata.Continue; next == "" {
			return nil
		}
	}
}
