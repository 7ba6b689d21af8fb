package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Concurrency is how many requests are sent at a time.
const Concurrency = 8

// lookups is how many owners that no list had are looked up at most. Others are taken for absent.
const lookups = 500

// Options are the options of Read.
type Options struct {
	// Namespace is read by itself where the user may not list all namespaces; empty: nothing is.
	Namespace string
	// Progress, if set, is called after each list, from one goroutine at a time, with the number of lists that are done,
	// of all lists, and of objects so far.
	Progress func(done, all, objects int)
}

// Read reads the metadata of all objects.
func (c *Client) Read(ctx context.Context, d *Discovery, o Options) (*explain.Cluster, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := len(d.Resources)
	r := &reader{c: c, o: o, found: make([][]explain.Object, n), why: make([]string, n), within: make([]string, n)}
	var listed []int
	for i, res := range d.Resources {
		if res.Listed {
			listed = append(listed, i)
		}
	}
	r.all = len(listed)
	err := each(ctx, listed, func(i int) error { return r.list(ctx, i, d.Resources[i]) })
	if err != nil {
		return nil, err
	}
	got := &explain.Cluster{Unavailable: d.Unavailable, Now: time.Now()}
	for i, res := range d.Resources {
		res.Unknown, res.Within = r.why[i], r.within[i]
		if res.Listed || res.Unknown != "" {
			got.Resources = append(got.Resources, res.Resource)
		}
		got.Objects = append(got.Objects, r.found[i]...)
	}
	if err := r.lookUp(ctx, d, got); err != nil {
		return nil, err
	}
	if err := r.complete(ctx, d, got); err != nil || len(got.Unavailable) == 0 {
		return got, err
	}
	own, err := c.Has(ctx, "preview")
	got.Held = !own
	return got, err
}

// each calls f for each item, Concurrency at a time. The first error is returned, once all calls have returned; no call
// begins after it.
func each[T any](ctx context.Context, items []T, f func(T) error) error {
	var all sync.WaitGroup
	var once sync.Once
	var failed error
	next := make(chan T)
	stop := make(chan struct{})
	for range min(Concurrency, len(items)) {
		all.Go(func() {
			for item := range next {
				if err := f(item); err != nil {
					once.Do(func() { failed = err; close(stop) })
				}
			}
		})
	}
	for _, item := range items {
		select {
		case next <- item:
			continue
		case <-stop:
		case <-ctx.Done():
			once.Do(func() { failed = ctx.Err() })
		}
		break
	}
	close(next)
	all.Wait()
	return failed
}

// reader collects what the lists have. Each list has its own place.
type reader struct {
	c     *Client
	o     Options
	found [][]explain.Object
	why   []string
	// within are the namespaces of which a resource was listed, if not of all.
	within []string

	progress sync.Mutex // for what follows
	done     int
	all      int
	objects  int
}

// list lists a resource. What a server rejects is noted, and is no error.
func (r *reader) list(ctx context.Context, i int, res *Resource) error {
	objects, err := r.c.List(ctx, res, "", nil)
	switch {
	case code(err) != http.StatusForbidden || r.o.Namespace == "":
	case res.Namespaced:
		if objects, err = r.c.List(ctx, res, r.o.Namespace, nil); err == nil {
			r.why[i], r.within[i] = "you may list those of namespace "+r.o.Namespace+" only", r.o.Namespace
		}
	case res.Name() == namespaces:
		if n, denied := r.namespace(ctx, res); denied == nil {
			objects, err, r.why[i] = []explain.Object{n}, nil, "you may get namespace "+r.o.Namespace+" only"
		}
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case code(err) == http.StatusForbidden:
		r.why[i] = "you may not list them"
	case code(err) == http.StatusNotFound, code(err) == http.StatusMethodNotAllowed:
	case code(err) == 0:
		return fmt.Errorf("list of %s: %w", res.Name(), err)
	default:
		r.why[i] = err.Error()
	}
	r.found[i] = objects
	r.progress.Lock()
	defer r.progress.Unlock()
	r.done, r.objects = r.done+1, r.objects+len(objects)
	if r.o.Progress != nil {
		r.o.Progress(r.done, r.all, r.objects)
	}
	return nil
}

// lookUp looks for owners that no list had: they may have been created between two lists.
func (r *reader) lookUp(ctx context.Context, d *Discovery, got *explain.Cluster) error {
	type missing struct {
		res *Resource
		key graph.Key
	}
	known, taken := map[string]bool{}, map[graph.Key]bool{}
	for i := range got.Objects {
		known[got.Objects[i].UID], taken[got.Objects[i].Key] = true, true
	}
	var all []missing
	for i := range got.Objects {
		for _, o := range got.Objects[i].Owners {
			res := d.Kind(o.APIVersion, o.Kind)
			namespace := got.Objects[i].Key.Namespace
			if known[o.UID] || res == nil || !res.Listed || res.Hides(namespace) || len(all) == lookups {
				continue
			}
			key := graph.Key{Collection: res.Name(), Name: o.Name}
			if res.Namespaced {
				key.Namespace = namespace
			}
			if known[o.UID] = true; key.Namespace != "" || !res.Namespaced {
				all = append(all, missing{res, key})
			}
		}
	}
	var adding sync.Mutex
	return each(ctx, all, func(m missing) error {
		objects, err := r.c.List(ctx, m.res, m.key.Namespace, url.Values{"fieldSelector": {"metadata.name=" + m.key.Name}})
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("owner %s: %w", m.key, err)
		}
		adding.Lock()
		defer adding.Unlock()
		for _, o := range objects {
			if !taken[o.Key] {
				taken[o.Key] = true
				got.Objects = append(got.Objects, o)
			}
		}
		return nil
	})
}
