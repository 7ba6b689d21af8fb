package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Source reads one cluster with the rights of one user. Errors that report a response have its code (code); a resource
// that the user may not list has http.StatusForbidden. Methods may be called from several goroutines.
type Source interface {
	// Discover returns what the cluster serves.
	Discover(ctx context.Context) (*Discovery, error)
	// List returns the metadata of the objects that are selected.
	List(ctx context.Context, r *Resource, s Selector) ([]explain.Object, error)
	// Whole decodes the list of whole objects that are selected into one of Kubernetes' types of lists.
	Whole(ctx context.Context, r *Resource, s Selector, into any) error
	// Complete reads what the objects lack besides the metadata.
	Complete(ctx context.Context, d *Discovery, c *explain.Cluster, namespace string) error
	// Revision is that of everything that is read; 0 if each list has another one.
	Revision() int64
	// Watch calls yield, one call at a time, with what happens after Read, until the context is done, yield returns an
	// error, or something is not known any more (errExpired): then everything must be read again.
	Watch(ctx context.Context, d *Discovery, yield func(Event) error) error
	// Past calls yield with the changes before what was read, as far as they are known. Times may be zero.
	Past(yield func(before, after *explain.Object, revision int64, at time.Time))
	// Waiting is how many objects wait for the garbage collector; nil if that is not known.
	Waiting() *int
}

// Event is a change of an object: its new state, or the last one if it is deleted.
type Event struct {
	Object   explain.Object
	Deleted  bool
	Revision int64
	// Stale is a resource that can't be watched at present, or, without the reason Why, that can again. There is no
	// object then.
	Stale, Why string
}

// errExpired: what follows is not known any more.
var errExpired = errors.New("the watch has expired")

// Selector selects objects of a resource. Empty fields select all.
type Selector struct{ Namespace, Name, Labels string }

// Concurrency is how many lists are read at a time.
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
	// Now is the clock; time.Now by default.
	Now func() time.Time
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// Read reads the metadata of all objects, and of some kinds what else their deletion depends on. It sets Unknown, Within
// and Denied of the resources of d.
func Read(ctx context.Context, from Source, d *Discovery, o Options) (*explain.Cluster, error) {
	r := &reader{from: from, d: d, o: o}
	got, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	steps := []func(context.Context, *explain.Cluster) error{r.lookUp, r.unavailable, r.admission}
	for _, step := range steps {
		if err := step(ctx, got); err != nil {
			return nil, err
		}
	}
	return got, from.Complete(ctx, d, got, o.Namespace)
}

// list reads the metadata of all objects.
func (r *reader) list(ctx context.Context) (*explain.Cluster, error) {
	r.found = make([][]explain.Object, len(r.d.Resources))
	var listed []int
	for i, res := range r.d.Resources {
		if res.Listed {
			listed = append(listed, i)
		}
	}
	r.all = len(listed)
	if err := each(ctx, listed, func(i int) error { return r.listOne(ctx, i, r.d.Resources[i]) }); err != nil {
		return nil, err
	}
	got := &explain.Cluster{Unavailable: r.d.Unavailable, Now: r.o.now(), Revision: r.from.Revision()}
	got.Objects = make([]explain.Object, 0, r.objects)
	for i, res := range r.d.Resources {
		if res.Listed || res.Unknown != "" {
			got.Resources = append(got.Resources, res.Resource)
		}
		got.Objects = append(got.Objects, r.found[i]...)
		r.found[i] = nil
	}
	return got, nil
}

// each calls f for each item, Concurrency at a time. The first error is returned, once all calls have returned; no call
// begins after it.
func each[T any](ctx context.Context, items []T, f func(T) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(Concurrency)
	for _, item := range items {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return f(item)
		})
	}
	return g.Wait()
}

// reader collects what the lists have. Each list has its own place in found.
type reader struct {
	from  Source
	d     *Discovery
	o     Options
	found [][]explain.Object

	progress sync.Mutex // for what follows
	done     int
	all      int
	objects  int
}

// listOne lists a resource. What a server rejects is noted, and is no error.
func (r *reader) listOne(ctx context.Context, i int, res *Resource) error {
	objects, err := r.from.List(ctx, res, Selector{})
	res.Unknown, res.Within, res.Denied = "", "", nil
	if code(err) == http.StatusForbidden && r.o.Namespace != "" {
		// Who has all rights in a namespace may get it, but list none.
		one, why := Selector{Namespace: r.o.Namespace}, "you may list those of namespace "+r.o.Namespace+" only"
		if res.Name() == namespaces {
			one, why = Selector{Name: r.o.Namespace}, "you may get namespace "+r.o.Namespace+" only"
		}
		if res.Namespaced || res.Name() == namespaces {
			res.Denied = err
			if objects, err = r.from.List(ctx, res, one); err == nil {
				res.Unknown, res.Within = why, one.Namespace
			}
		}
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case code(err) == http.StatusForbidden:
		res.Unknown, res.Denied = "you may not list them", err
	case code(err) == http.StatusNotFound:
	case code(err) == http.StatusMethodNotAllowed:
		res.Denied = err
	case code(err) == 0:
		return fmt.Errorf("list of %s: %w", res.Name(), err)
	default:
		res.Unknown = err.Error()
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

// code is the HTTP status of an error; 0 for an error without a response.
func code(err error) int {
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		return int(s.Status().Code)
	}
	return 0
}

// missing is an owner that no list had.
type missing struct {
	res *Resource
	key graph.Key
}

// lookUp looks for owners that no list had: they may have been created between two lists.
func (r *reader) lookUp(ctx context.Context, got *explain.Cluster) error {
	if got.Revision != 0 {
		return nil
	}
	taken := make(map[graph.Key]bool, len(got.Objects))
	for i := range got.Objects {
		taken[got.Objects[i].Key] = true
	}
	var adding sync.Mutex
	return each(ctx, r.missing(got), func(m missing) error {
		objects, err := r.from.List(ctx, m.res, Selector{Namespace: m.key.Namespace, Name: m.key.Name})
		if err != nil {
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

// missing returns the owners that no list had, each once.
func (r *reader) missing(got *explain.Cluster) (all []missing) {
	known := make(map[string]bool, len(got.Objects))
	for i := range got.Objects {
		known[got.Objects[i].UID] = true
	}
	for i := range got.Objects {
		namespace := got.Objects[i].Key.Namespace
		for _, o := range got.Objects[i].Owners {
			res := r.d.Kind(o.APIVersion, o.Kind)
			if known[o.UID] || res == nil || !res.Listed || res.Hides(namespace) || len(all) == lookups {
				continue
			}
			known[o.UID] = true
			switch {
			case !res.Namespaced:
				all = append(all, missing{res, graph.Key{Collection: res.Name(), Name: o.Name}})
			case namespace != "":
				all = append(all, missing{res, graph.Key{Collection: res.Name(), Namespace: namespace, Name: o.Name}})
			}
		}
	}
	return all
}
