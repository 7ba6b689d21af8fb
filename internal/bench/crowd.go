package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// crowdClients is how many clients list all objects at the same time.
const crowdClients = 100

// form is how a client asks for objects.
type form struct{ name, accept, encoding string }

func (f form) header() http.Header {
	return http.Header{"Accept": {f.accept}, "Accept-Encoding": {f.encoding}}
}

// forms are those of whole objects.
func forms() []form {
	return []form{
		{"protobuf, gzip", "application/vnd.kubernetes.protobuf", "gzip"},
		{"JSON, gzip", "application/json", "gzip"},
		{"protobuf", "application/vnd.kubernetes.protobuf", "identity"},
		{"JSON", "application/json", "identity"},
	}
}

// crowds has clients, each with an HTTP/2 connection of its own, list 100,000 objects of 1 KiB at the same time, in the
// formats that clients ask for. It measures the most memory that the server takes, how many lists are rejected, and how
// many are cut off after they have begun.
func (b *bench) crowds(ctx context.Context) (rows []row, err error) {
	return rows, b.serving(ctx, func(p *process, _ *http.Client) error {
		t, err := p.target()
		if err != nil {
			return err
		}
		return t.within(ctx, func(t *target) error {
			if err := t.grow(ctx, 0, pastObjects); err != nil {
				return err
			}
			for _, f := range append(forms(), form{"Table", "application/json;as=Table;v=v1;g=meta.k8s.io", "gzip"}) {
				r, err := p.crowd(ctx, t, f.header(), fmt.Sprintf("%d lists of %d at once, %s", crowdClients, pastObjects, f.name))
				if err != nil {
					return err
				}
				rows = append(rows, r...)
			}
			return nil
		})
	})
}

// crowd sends the same list request from all clients at once.
func (p *process) crowd(ctx context.Context, t *target, header http.Header, what string) ([]row, error) {
	rest, err := atRest(ctx, t.pid)
	if err != nil {
		return nil, err
	}
	stop, err := growing(t.pid)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // guards the rest
	var took []time.Duration
	var rejected, cut float64
	var wg sync.WaitGroup
	before, began := cpuTime(t.pid), time.Now()
	for range crowdClients {
		wg.Go(func() {
			code, err := p.listAll(ctx, t, header)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				cut++
			case code == http.StatusTooManyRequests:
				rejected++
			default:
				took = append(took, time.Since(began))
			}
		})
	}
	wg.Wait()
	most, err := stop()
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	rows := []row{
		rowOf(what+": resident at most", "MiB", []float64{rest + most}),
		rowOf(what+": rejected with 429", "", []float64{rejected}),
		rowOf(what+": cut off", "", []float64{cut}),
		rowOf(what+": server's processor time of all", "s", []float64{(cpuTime(t.pid) - before).Seconds()}),
	}
	if slices.Sort(took); len(took) > 0 {
		rows = append(rows, rowOf(what+": time until the last one has all", "s", []float64{took[len(took)-1].Seconds()}))
	}
	return rows, nil
}

// listAll lists all objects with a connection of its own, and returns the status code.
func (p *process) listAll(ctx context.Context, t *target, header http.Header) (code int, err error) {
	c, err := p.client()
	if err != nil {
		return 0, err
	}
	defer c.CloseIdleConnections()
	c.Transport.(*http.Transport).ForceAttemptHTTP2 = true
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.secure+t.path("configmaps"), nil)
	if err != nil {
		return 0, err
	}
	req.Header = header.Clone()
	res, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	if err == nil && res.StatusCode != http.StatusOK && res.StatusCode != http.StatusTooManyRequests {
		err = errors.New(res.Status)
	}
	return res.StatusCode, err
}
