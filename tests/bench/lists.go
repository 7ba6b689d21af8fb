package main

import (
	"context"
	"fmt"
)

// form is a way to request a list.
type form struct {
	name, query string
	// least is the minimum number of objects for which the form is measured. Short responses are not compressed.
	least int
	request
}

func forms() []form {
	return []form{
		{name: "JSON"},
		{name: "protobuf", request: request{accept: asProtobuf}},
		{name: "Table", request: request{accept: asTable}},
		{name: "metadata only", request: request{accept: asMetadata}},
		{name: "gzip", least: 500, request: request{gzip: true}},
		{name: "one label of ten", least: 500, query: "?labelSelector=app%3Da7"},
		{name: "a page of 100", least: 500, query: "?limit=100"},
	}
}

// of reports whether the form is measured for n objects of a kind. Custom resources have no protobuf.
func (f form) of(k kind, n int) bool {
	return n >= f.least && (f.accept != asProtobuf || len(k.formats) > 1)
}

// sizes returns the numbers of objects in the namespaces that sized names.
func (b *bench) sizes() []int { return []int{b.size(5), b.size(500), b.size(2500), b.size(10000)} }

// sized returns the name of the namespace with n objects of each kind.
func sized(n int) string { return fmt.Sprintf("n%d", n) }

// filled creates custom resources and ConfigMaps on a server. On the peer it creates only custom resources, because the
// peer does not serve ConfigMaps.
func filled(ctx context.Context, r *run) error {
	if err := define(ctx, r); err != nil {
		return err
	}
	for _, n := range r.bench.sizes() {
		kinds := []kind{widgets}
		if !r.program.peer {
			kinds = append(kinds, configMaps)
			body := fmt.Sprintf(`{"metadata":{"name":%q}}`, sized(n))
			if err := r.server.admin.send(ctx, request{method: "POST", path: namespaces, body: body}); err != nil {
				return err
			}
		}
		for _, k := range kinds {
			if err := k.fill(ctx, r.server.admin, sized(n), n, 1024); err != nil {
				return err
			}
		}
	}
	return nil
}

// listCases returns the cases of lists by one client over HTTP/2 that does not decode them.
func (b *bench) listCases() (cases []workload) {
	for _, k := range []kind{configMaps, widgets} {
		for _, n := range b.sizes() {
			w := workload{name: fmt.Sprintf("list of %d, %s", n, k), custom: k.group != ""}
			var some []form
			for _, f := range forms() {
				if f.of(k, n) {
					w.figures = append(w.figures, f.name)
					some = append(some, f)
				}
			}
			w.run = func(ctx context.Context, r *run) error {
				for _, f := range some {
					if !r.wants(f.name) {
						continue
					}
					if err := r.list(ctx, k, f, n); err != nil {
						return err
					}
				}
				return nil
			}
			cases = append(cases, w)
		}
	}
	return cases
}

// list measures one form of a list. It sends 200,000/n lists, but at least 20 and at most 2,000.
func (r *run) list(ctx context.Context, k kind, f form, n int) error {
	c, err := r.server.client(http2)
	if err != nil {
		return err
	}
	defer c.close()
	if f.gzip {
		if err := c.outside(); err != nil {
			return err
		}
	}
	ask := f.request
	ask.method, ask.path = "GET", k.path(sized(n))+f.query
	if err := c.send(ctx, ask); err != nil { // the first one connects
		return err
	}
	times := r.bench.size(min(max(200_000/n, 20), 2000))
	return r.drive(ctx, f.name, 1, times, func(ctx context.Context, _ int) error { return c.send(ctx, ask) })
}
