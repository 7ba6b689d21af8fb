package controllers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/controllers/namespace"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/loopback"
	"github.com/kubecascade/kubecascade/usage"
)

var quotaBackoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 60 * time.Second}

// quotaCounter keeps the status of resource quotas: status.hard is a copy of spec.hard, and status.used is the usage of
// the objects in the namespace (package usage). The API server's admission adds the usage of requests; this calculates
// decreased usage, and the initial usage of a new or changed quota.
//
// A status is written only over the state of the quota that was read before the objects were counted. If admission
// writes the quota in between, that is a conflict, and the namespace is counted again. Namespaces without quotas, and
// those without changes, cost almost nothing. It doesn't use package workload, as it follows all collections.
//
// Unlike upstream there is no recount of everything every five minutes: a pod whose deletion hangs is counted until
// something else in its namespace changes. Only names of resources that are not stored here are counted again after
// quotaElsewhere: other servers may have the objects.
type quotaCounter struct {
	client *loopback.Client
	others *loopback.Namespaces
	log    *slog.Logger

	// mu guards the field below, and what it refers to.
	mu sync.Mutex
	// delays has the delays of the namespaces that have quotas.
	delays map[string]*quotaDelay
}

// quotas returns the part that counts the usage.
func quotas(s *setup) []run {
	return []run{func(ctx context.Context) {
		c := s.client()
		q := &quotaCounter{client: c, log: s.process.Log,
			others: &loopback.Namespaces{API: c.API, Cache: c.Cache, Others: s.process.Aggregator}}
		loop := reconcile.Loop[string]{
			Keys: reconcile.NewKeys(quotaBackoff, strings.Compare), Workers: s.workers(), Follow: q.follow,
			Pass:  q.pass,
			About: reconcile.Namespace, Log: s.process.Log, What: "resource quotas",
		}
		loop.Run(ctx)
	}}
}

// follow sends the namespaces whose quotas, or whose objects, were changed.
func (q *quotaCounter) follow(ctx context.Context, sink func(namespace string)) error {
	quota := q.resource().Collection
	return loopback.Feed{Cache: q.client.Cache, First: quota,
		Begin: func(state iter.Seq[*loopback.Object]) {
			q.mu.Lock()
			q.delays = map[string]*quotaDelay{}
			q.mu.Unlock()
			for o := range state {
				q.exists(ctx, o)
				sink(o.Meta.Namespace)
			}
		},
		Each: func(e *loopback.Event) error {
			if q.observe(ctx, e, e.Collection == quota) {
				sink(e.Object.Meta.Namespace)
			}
			return nil
		},
	}.Follow(ctx)
}

// observe processes an event, and reports whether the namespace may need a pass.
func (q *quotaCounter) observe(ctx context.Context, e *loopback.Event, isQuota bool) bool {
	if isQuota && e.Type != loopback.Deleted {
		q.exists(ctx, e.Object)
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.delays[e.Object.Meta.Namespace]
	if d == nil {
		return false
	}
	if isQuota {
		delete(d.quotas, e.Object.Meta.Name)
		if len(d.quotas) == 0 {
			delete(q.delays, e.Object.Meta.Namespace)
			return false
		}
	}
	if e.Type == loopback.Added || e.Type != loopback.Deleted && !q.measures(e.Collection) {
		return false
	}
	d.changed(reconcile.Now(ctx))
	return true
}

func (q *quotaCounter) exists(ctx context.Context, o *loopback.Object) {
	var stored struct {
		Spec   corev1.ResourceQuotaSpec
		Status corev1.ResourceQuotaStatus
	}
	// The pass reports an error for a quota that can't be decoded.
	unknown := json.Unmarshal(o.JSON, &stored) == nil &&
		(!usage.Same(stored.Spec.Hard, stored.Status.Hard) || stored.Status.Used == nil)
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.delays[o.Meta.Namespace]
	if d == nil {
		d = &quotaDelay{quotas: map[string]bool{}}
		q.delays[o.Meta.Namespace] = d
	}
	d.wrote(o.Meta.Name, unknown, reconcile.Now(ctx))
}

// measures reports whether a change of an object of a collection may change its usage.
func (q *quotaCounter) measures(collection string) bool {
	r := q.client.API.Types().Collection(collection)
	return r != nil && usage.Measured(r.GroupResource())
}

// wait returns the time until a namespace is counted, 0 if it is being counted now; ok is false if no count is due.
func (q *quotaCounter) wait(namespace string, now time.Time) (wait time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.delays[namespace]
	if d == nil {
		return 0, false
	}
	if wait, ok = d.wait(now); ok && wait == 0 {
		d.begin(now)
	}
	return wait, ok
}

// pass counts a namespace if it is due. Conflicts are normal: admission has written the quota in the meantime, so the
// next count waits as after any such write.
func (q *quotaCounter) pass(ctx context.Context, namespace string) reconcile.Outcome {
	wait, ok := q.wait(namespace, reconcile.Now(ctx))
	if !ok || wait > 0 {
		return reconcile.Outcome{Again: wait, Why: reconcile.AfterChange}
	}
	again, err := q.count(ctx, namespace)
	if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
		q.log.Warn("failed to update resource quota usage", "namespace", namespace, "err", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	d := cmp.Or(q.delays[namespace], &quotaDelay{}) // its quotas may be gone
	if err == nil {
		d.elsewhere = again > 0
		return reconcile.Outcome{Again: again, Why: "the next count of objects of aggregated servers"}
	}
	d.failed(reconcile.Now(ctx))
	return reconcile.Outcome{Err: err, Rest: quotaDebounce}
}

// objectsOf has the objects of a namespace, by resource.
type objectsOf = map[schema.GroupResource][]runtime.Object

// count updates the quotas of a namespace. An error with one quota stops no other. The objects of other servers, which
// may be slow, are read before the quotas; again is the time until they are read again.
func (q *quotaCounter) count(ctx context.Context, namespace string) (again time.Duration, err error) {
	all, err := q.list(ctx, namespace)
	named := corev1.ResourceList{}
	for _, one := range all {
		maps.Copy(named, one.Spec.Hard)
	}
	names, objects, absent := usage.Counted(usage.Names(named)), objectsOf{}, objectsOf{}
	if slices.ContainsFunc(names, func(r schema.GroupResource) bool { return q.stored(r) == nil }) {
		again = quotaElsewhere
		objects, absent = q.elsewhere(ctx, namespace, names)
		all, err = q.list(ctx, namespace)
	}
	if err != nil {
		return 0, fmt.Errorf("reading quotas: %w", err)
	}
	if err := q.objects(ctx, namespace, names, objects); err != nil {
		return 0, err
	}
	var errs []error
	for _, one := range all {
		// What can't be counted stays (K pkg/controller/resourcequota/resource_quota_controller.go: syncResourceQuota).
		used := usage.Only(one.Status.Used, usage.Names(one.Spec.Hard))
		maps.Copy(used, usage.Total(&corev1.ResourceQuotaSpec{Hard: used}, absent, reconcile.Now(ctx)))
		maps.Copy(used, usage.Total(&one.Spec, objects, reconcile.Now(ctx)))
		next := corev1.ResourceQuotaStatus{Hard: one.Spec.Hard, Used: used}
		if usage.Same(next.Hard, one.Status.Hard) && usage.Same(next.Used, one.Status.Used) && one.Status.Used != nil {
			continue
		}
		one.Status = next
		path := loopback.Path{Resource: q.resource(), Subresource: "status", Namespace: namespace, Name: one.Name}
		if _, err := q.client.API.Update(ctx, path, one); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("updating the status of %s: %w", one.Name, err))
		}
	}
	return again, errors.Join(errs...)
}

func (q *quotaCounter) resource() *loopback.Type {
	return q.client.API.Types().Lookup("", "v1", "resourcequotas")
}

// list returns the quotas of a namespace by a consistent read.
func (q *quotaCounter) list(ctx context.Context, namespace string) (all []*corev1.ResourceQuota, err error) {
	stored, err := q.client.API.List(ctx, loopback.Path{Resource: q.resource(), Namespace: namespace})
	if err != nil {
		return nil, err
	}
	for _, o := range stored {
		one, err := loopback.Typed[corev1.ResourceQuota](o, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// elsewhere reads the objects of resources that are not stored here. absent has those that no server has. A resource
// whose objects are not known is in neither.
func (q *quotaCounter) elsewhere(ctx context.Context, in string, names []schema.GroupResource) (out, absent objectsOf) {
	ctx, cancel := context.WithTimeout(ctx, quotaElsewhere/2)
	defer cancel()
	out, absent = objectsOf{}, objectsOf{}
	all, unknown := q.others.Resources()
	for _, r := range names {
		i := slices.IndexFunc(all, func(o namespace.Resource) bool { return o.GroupResource() == r })
		here := func(t *loopback.Type) bool { return t.GroupResource() == r } // in any version
		if i >= 0 && all[i].Elsewhere {
			if items, _, err := q.others.Metadata(ctx, all[i], in); err == nil {
				out[r] = make([]runtime.Object, len(items))
			}
		} else if unknown == nil && !slices.ContainsFunc(q.client.API.Types().All(), here) {
			absent[r] = nil
		}
	}
	return out, absent
}

// objects adds the stored objects of the resources. They are read after the quotas.
func (q *quotaCounter) objects(ctx context.Context, in string, names []schema.GroupResource, out objectsOf) error {
	for _, r := range names {
		if res := q.stored(r); res != nil {
			list, err := q.client.API.List(ctx, loopback.Path{Resource: res, Namespace: in})
			if err == nil {
				out[r], err = measurable(r, list)
			}
			if err != nil {
				return fmt.Errorf("reading %s: %w", r, err)
			}
		}
	}
	return nil
}

// stored returns the entry of the resource's storage version; nil if it isn't served.
func (q *quotaCounter) stored(r schema.GroupResource) *loopback.Type {
	for _, res := range q.client.API.Types().All() {
		if res.GroupResource() == r && res.Namespaced && res.Collection != "" && res.ToStored == nil {
			return res
		}
	}
	return nil
}

// measurable returns decoded objects for package usage; nil ones for a resource whose objects it only counts.
func measurable(r schema.GroupResource, stored []*loopback.Object) ([]runtime.Object, error) {
	out := make([]runtime.Object, len(stored))
	for i, o := range stored {
		switch r {
		case schema.GroupResource{Resource: "pods"}:
			out[i] = new(corev1.Pod)
		case schema.GroupResource{Resource: "services"}:
			out[i] = new(corev1.Service)
		case schema.GroupResource{Resource: "persistentvolumeclaims"}:
			out[i] = new(corev1.PersistentVolumeClaim)
		case schema.GroupResource{Group: resourcev1.GroupName, Resource: "resourceclaims"}:
			out[i] = new(resourcev1.ResourceClaim)
		default:
			continue
		}
		if err := json.Unmarshal(o.JSON, out[i]); err != nil {
			return nil, fmt.Errorf("decoding %s: %w", o.Key, err)
		}
	}
	return out, nil
}
