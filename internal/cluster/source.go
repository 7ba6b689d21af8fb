package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
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
	// Discover returns the resources that the cluster serves.
	Discover(ctx context.Context) (*Discovery, error)
	// List calls yield with the metadata of each object that is selected, and its JSON if s.Whole is set.
	List(ctx context.Context, r *Resource, s Selector, yield func(o *explain.Object, object []byte)) error
	// Watch calls yield, one call at a time, with the events after Read, until the context is done, yield returns an
	// error, or events are lost (errExpired): then everything must be read again.
	Watch(ctx context.Context, d *Discovery, yield func(Event) error) error
	// Revision returns the revision of the data; 0 if it is not of one revision.
	Revision() int64
	// Past calls yield with the changes before the data that was read, as far as they are known. Times may be zero.
	Past(yield func(e Event, at time.Time))
	// Waiting is the number of objects that wait for the garbage collector; nil if it is not known.
	Waiting() *int
}

// Event is a change of an object. A removal has no state After; the state Before another change may not be known.
type Event struct {
	Before, After *explain.Object
	Revision      int64
	// Stale, in an event without an object, is a resource that can't be watched at present, for the reason Why. Without
	// Why it can be watched again.
	Stale, Why string
}

// errExpired reports that events after the data are lost.
var errExpired = errors.New("the watch has expired")

// Selector selects objects of a resource. Empty fields select all.
type Selector struct {
	Namespace, Name, Labels string
	Whole                   bool // selects the JSON of the objects, too
	Newest                  bool // selects objects that are newer than Revision, too
	// First is the number of objects that are requested; a server may return more.
	First int
}

// concurrency is the number of lists that are read at a time.
const concurrency = 8

// lookups is the maximum number of owners, missing in all lists, that are looked up. Further ones are taken for absent.
const lookups = 500

// Options are the options of Read.
type Options struct {
	Discovery *Discovery // the resources that the cluster serves, if they are known already
	Namespace string     // is read if the user may not list a resource in all namespaces; empty for none
	// Progress, if set, is called after each list, from one goroutine at a time, with the number of lists that are done,
	// of all lists, and of objects so far.
	Progress func(done, all, objects int)
	Now      func() time.Time // the clock
	// MostDeletions is the maximum number of objects that a preview may delete; 0 for any number.
	MostDeletions int
}

// Read reads discovery, the metadata of all objects, and for some kinds the other fields on which their deletion
// depends. It sets Unknown, Within and Denied of the resources.
func Read(ctx context.Context, from Source, o Options) (*explain.Cluster, *Discovery, error) {
	r := &reader{from: from, o: o, whole: true}
	got, err := r.list(ctx)
	for _, step := range []func(context.Context, *explain.Cluster) error{r.lookUp, r.unavailable, r.serviceIPs, r.admission} {
		if err == nil {
			err = step(ctx, got)
		}
	}
	for i := 0; err == nil && i < len(r.d.Resources); i++ {
		if res := r.d.Resources[i]; res.Listed {
			got.Resources = append(got.Resources, res.Resource)
		}
	}
	return got, r.d, err
}

// list reads the metadata of all objects.
func (r *reader) list(ctx context.Context) (*explain.Cluster, error) {
	if r.d = r.o.Discovery; r.d == nil {
		var err error
		if r.d, err = r.from.Discover(ctx); err != nil {
			return nil, err
		}
	}
	listed := slices.DeleteFunc(slices.Clone(r.d.Resources), func(res *Resource) bool { return !res.Listed })
	r.found, r.all = map[*Resource][]*explain.Object{}, len(listed)
	if err := each(ctx, listed, func(res *Resource) error { return r.listOne(ctx, res) }); err != nil {
		return nil, err
	}
	got := &explain.Cluster{Unavailable: r.d.Unavailable, Now: r.o.Now(), Revision: r.from.Revision()}
	for _, res := range listed {
		got.Objects = append(got.Objects, r.found[res]...)
	}
	return got, nil
}

// each calls f for each item, concurrency at a time. The first error is returned, once all calls have returned; no call
// begins after it.
func each[T any](ctx context.Context, items []T, f func(T) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
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

// reader collects the results of the lists.
type reader struct {
	from  Source
	d     *Discovery
	o     Options
	whole bool // the objects are completed
	all   int  // the number of lists
	// reasons are why services can't be reached, as far as they have been looked up.
	reasons map[Selector]string

	mu      sync.Mutex // guards the fields below
	found   map[*Resource][]*explain.Object
	objects int
}

// listOne lists a resource. A list that the server rejects, or answers wrongly, is recorded, and is no error.
func (r *reader) listOne(ctx context.Context, res *Resource) error {
	objects, err := r.listed(ctx, res, Selector{})
	res.Unknown, res.Within, res.Denied, res.DeniedWithin = "", "", nil, nil
	if code(err) == http.StatusForbidden && r.o.Namespace != "" {
		// A user with all rights in a namespace may get it, but not list namespaces.
		one, why := Selector{Namespace: r.o.Namespace}, "you may list those of namespace "+r.o.Namespace+" only"
		if res.Name() == namespaces {
			one, why = Selector{Name: r.o.Namespace}, "you may get namespace "+r.o.Namespace+" only"
		}
		if res.Namespaced || res.Name() == namespaces {
			res.Denied = err
			if objects, err = r.listed(ctx, res, one); err == nil {
				res.Unknown, res.Within = why, one.Namespace
			}
		}
	}
	var unconnected *url.Error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case code(err) == http.StatusForbidden:
		res.Unknown, res.Denied, res.DeniedWithin = "you may not list them", cmp.Or(res.Denied, err), err
	case code(err) == http.StatusNotFound:
	case code(err) == http.StatusMethodNotAllowed:
		res.Denied = err
	case errors.As(err, &unconnected):
		return fmt.Errorf("list of %s: %w", res.Name(), err)
	default:
		res.Unknown = err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found[res] = objects
	if r.objects += len(objects); r.o.Progress != nil {
		r.o.Progress(len(r.found), r.all, r.objects)
	}
	return nil
}

// listed lists objects, and completes them. If only some objects of the resource are incomplete, it reads these one by
// one.
func (r *reader) listed(ctx context.Context, res *Resource, s Selector) (objects []*explain.Object, err error) {
	s.Whole = r.whole && incomplete(res, &explain.Object{Key: graph.Key{Collection: res.Name()}})
	err = r.from.List(ctx, res, s, func(o *explain.Object, object []byte) {
		if s.Whole {
			complete(res, object, o)
		}
		objects = append(objects, o)
	})
	for _, o := range objects {
		if err == nil && r.whole && !s.Whole && incomplete(res, o) {
			err = known(r.from.List(ctx, res, Selector{Name: o.Name, Whole: true}, func(_ *explain.Object, object []byte) {
				complete(res, object, o)
			}))
		}
	}
	if err != nil {
		return nil, err
	}
	return objects, nil
}

// code returns the HTTP status of an error; 0 for an error without a response.
func code(err error) int {
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		return int(s.Status().Code)
	}
	return 0
}

// lookUp looks up owners that no list had: they may have been created between two lists. Lists of one revision differ
// only from those of aggregated servers. If such a server does not have an answer, none of its objects are known.
func (r *reader) lookUp(ctx context.Context, got *explain.Cluster) error {
	type owner struct {
		res *Resource
		at  Selector
		uid string
	}
	var missing []owner
	known := make(map[string]bool, len(got.Objects))
	for _, o := range got.Objects {
		known[o.UID] = true
	}
	for _, o := range got.Objects {
		for _, w := range o.Owners {
			if known[w.UID] || len(missing) == lookups {
				continue
			}
			res, anyTime := r.d.Kind(w.APIVersion, w.Kind), got.Revision == 0 || r.d.Named(o.Collection).Elsewhere
			if res == nil || !anyTime && !res.Elsewhere || !res.Listed || res.Hides(o.Namespace) ||
				res.Namespaced && o.Namespace == "" {
				continue
			}
			known[w.UID] = true
			at := Selector{Name: w.Name, Newest: true}
			if res.Namespaced {
				at.Namespace = o.Namespace
			}
			missing = append(missing, owner{res, at, w.UID})
		}
	}
	failed := map[string]bool{}
	err := each(ctx, missing, func(m owner) error {
		objects, err := r.listed(ctx, m.res, m.at)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil && m.res.Elsewhere && ctx.Err() == nil {
			m.res.Unknown, m.res.Within, failed[m.res.Name()] = err.Error(), "", true
		} else if err != nil {
			return fmt.Errorf("owner %s %s: %w", m.res.Name(), m.at.Name, err)
		}
		for _, o := range objects {
			if o.UID == m.uid {
				got.Objects = append(got.Objects, o)
			}
		}
		return nil
	})
	got.Objects = slices.DeleteFunc(got.Objects, func(o *explain.Object) bool { return failed[o.Collection] })
	return err
}
