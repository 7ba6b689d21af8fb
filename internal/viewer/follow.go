package viewer

import (
	"context"
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/ui"
)

const (
	// rediscover is how often what the cluster serves is read again.
	rediscover = time.Minute
	// shortest and longest are the pauses after a failure.
	shortest, longest = time.Second, 30 * time.Second
)

// follower keeps the model up to date.
type follower struct {
	client    *cluster.Client
	namespace string
	model     *model
	// listing limits the lists that are read at a time.
	listing chan struct{}
	// synced is closed when the first list of each resource has been read, or has failed.
	synced chan struct{}
}

// run follows the cluster until the context is done.
func (f *follower) run(ctx context.Context) {
	running := map[string]context.CancelFunc{}
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var once sync.Once
	for pause := shortest; ; {
		d, err := f.client.Discover(ctx)
		if err != nil {
			f.model.fail("discovery", err.Error())
			if !wait(ctx, pause) {
				return
			}
			pause = min(2*pause, longest)
			continue
		}
		f.model.fail("discovery", "")
		started := f.start(ctx, d, running, &all)
		once.Do(func() {
			all.Go(func() {
				started.Wait()
				close(f.synced)
			})
		})
		pause = shortest
		if !wait(ctx, rediscover) {
			return
		}
	}
}

// start starts to follow resources that are new, and ends those that are gone. The result waits for the first lists.
func (f *follower) start(
	ctx context.Context, d *cluster.Discovery, running map[string]context.CancelFunc, all *sync.WaitGroup,
) *sync.WaitGroup {
	var lists sync.WaitGroup
	var served []ui.Resource
	names := map[string]bool{}
	changed := false
	for _, res := range d.Resources {
		// ComponentStatuses have no watch, and the garbage collector leaves them out, too (garbagecollector.go:
		// GetDeletableResources).
		if !res.Listed || !res.Watched || res.Inert {
			continue
		}
		names[res.Name()] = true
		served = append(served, cluster.OnPage(&res.Resource))
		if running[res.Name()] != nil {
			continue
		}
		one, cancel := context.WithCancel(ctx)
		running[res.Name()], changed = cancel, true
		lists.Add(1)
		all.Go(func() { f.follow(one, res, sync.OnceFunc(lists.Done)) })
	}
	for name, cancel := range running {
		if !names[name] {
			cancel()
			delete(running, name)
			f.model.replace(name, nil, true)
			f.model.fail(name, "")
			changed = true
		}
	}
	if changed {
		f.model.serve(served)
	}
	return &lists
}

// follow lists and watches a resource until the context is done. listed is called after the first list.
func (f *follower) follow(ctx context.Context, res *cluster.Resource, listed func()) {
	defer listed()
	namespace, version, pause := "", "", shortest
	for known := false; ctx.Err() == nil; {
		var err error
		if version == "" {
			if version, err = f.list(ctx, res, namespace, known); err == nil {
				known = true
				listed()
			}
		}
		if err == nil {
			f.model.fail(res.Name(), "")
			err = f.client.Watch(ctx, res, namespace, version, func(kind string, m *metav1.ObjectMeta) {
				version, pause = m.ResourceVersion, shortest
				if kind != "BOOKMARK" {
					f.model.event(kind, picture(res, m))
				}
			})
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			continue
		case errors.Is(err, cluster.ErrExpired):
			version = ""
		case !cluster.MayList(err) && res.Namespaced && namespace == "" && f.namespace != "":
			namespace, version = f.namespace, ""
			continue
		default:
			f.model.fail(res.Name(), err.Error())
			listed()
		}
		if !wait(ctx, pause) {
			return
		}
		pause = min(2*pause, longest)
	}
}

// list reads all objects of a resource.
func (f *follower) list(ctx context.Context, res *cluster.Resource, namespace string, known bool) (string, error) {
	select {
	case f.listing <- struct{}{}:
		defer func() { <-f.listing }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	var objects []ui.Object
	version, err := f.client.Pages(ctx, res, namespace, nil, func(m *metav1.ObjectMeta) {
		if len(objects) <= mostObjects {
			objects = append(objects, picture(res, m))
		}
	})
	if err != nil {
		return "", err
	}
	f.model.replace(res.Name(), objects, known)
	return version, nil
}

// wait reports whether the pause is over before the context.
func wait(ctx context.Context, pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
