package admission

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/usage"
)

// Quota is ResourceQuota. It rejects requests that exceed a quota of the namespace. For other requests, it adds their
// usage to the quotas before the object is stored (AS pkg/admission/plugin/resourcequota). A controller recomputes the
// usage when it decreases.
//
// Upstream updates the quotas for all waiting requests of a namespace together, in up to three attempts. Here, one
// request of a namespace updates them at a time.
type Quota struct {
	// Quotas returns the quotas of a namespace by a consistent read. Callers must not change them.
	Quotas func(ctx context.Context, namespace string) ([]*corev1.ResourceQuota, error)
	// Store writes the status of a quota. It returns a Conflict if the quota has another resourceVersion.
	Store func(ctx context.Context, q *corev1.ResourceQuota) error
	Now   func() time.Time

	locks locks
}

// Limits for retries after conflicts with other writers of a quota.
const (
	updateAttempts  = 20
	subtractTimeout = 5 * time.Second
)

// Validate implements Validator. As in upstream it is the last plugin, so that it does not add usage for a request that
// another plugin rejects.
func (q *Quota) Validate(ctx context.Context, a *Attributes) error {
	if a.Namespace == "" || a.Operation != Create && a.Operation != Update {
		return nil
	}
	w := usage.Write{Resource: a.Resource.GroupResource(), Subresource: a.Subresource, Object: a.Object, Now: q.Now()}
	if a.Operation == Update {
		w.Old = a.Old
	}
	if !w.Counts() { // excludes the write of a quota's status
		return nil
	}
	quotas, err := q.Quotas(ctx, a.Namespace)
	if err != nil {
		return fmt.Errorf("looking up quotas of %s: %w", a.Namespace, err)
	}
	if len(quotas) == 0 {
		return nil
	}
	if a.DryRun {
		_, err := checkRequest(a, quotas, w)
		return err
	}
	done, err := q.locks.acquire(ctx, a.Namespace)
	if err != nil {
		return fmt.Errorf("waiting to update the quotas of %s: %w", a.Namespace, err)
	}
	defer done()
	return q.addUsage(ctx, a, w)
}

// checkRequest returns the usage to add to each quota, or the error for a request that exceeds one.
func checkRequest(
	a *Attributes, quotas []*corev1.ResourceQuota, w usage.Write,
) (map[string]corev1.ResourceList, error) {
	added, err := usage.CheckRequest(quotas, w)
	if err != nil {
		return nil, Forbidden(a, err)
	}
	return added, nil
}

// addUsage checks the quotas and adds the usage. After a conflict it retries with the quotas that it has not updated
// yet.
func (q *Quota) addUsage(ctx context.Context, a *Attributes, w usage.Write) error {
	updated := map[string]bool{}
	for attempt := 1; ; attempt++ {
		quotas, err := q.Quotas(ctx, a.Namespace)
		if err != nil {
			return fmt.Errorf("looking up quotas of %s: %w", a.Namespace, err)
		}
		open := slices.DeleteFunc(quotas, func(quota *corev1.ResourceQuota) bool { return updated[quota.Name] })
		added, err := checkRequest(a, open, w)
		if err != nil {
			return err
		}
		err = q.store(ctx, a, open, added, updated)
		if !apierrors.IsConflict(err) || attempt == updateAttempts {
			return err
		}
	}
}

// store updates the quotas one after the other, and records in updated which are done.
func (q *Quota) store(
	ctx context.Context, a *Attributes, quotas []*corev1.ResourceQuota, added map[string]corev1.ResourceList,
	updated map[string]bool,
) error {
	for _, quota := range quotas {
		delta := added[quota.Name]
		if len(delta) == 0 {
			continue
		}
		next := quota.DeepCopy()
		next.Status.Used = usage.Add(quota.Status.Used, delta)
		if err := q.Store(ctx, next); err != nil {
			return err
		}
		updated[quota.Name] = true
		a.OnFailure(func() { q.subtractUsage(ctx, a.Namespace, quota.Name, delta) })
	}
	return nil
}

// subtractUsage subtracts the usage. If it fails, the controller recomputes it.
func (q *Quota) subtractUsage(ctx context.Context, namespace, name string, delta corev1.ResourceList) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), subtractTimeout)
	defer cancel()
	for range updateAttempts {
		quotas, err := q.Quotas(ctx, namespace)
		if err != nil {
			return
		}
		err = nil
		for _, quota := range quotas {
			if quota.Name == name {
				next := quota.DeepCopy()
				next.Status.Used = usage.Subtract(quota.Status.Used, delta)
				err = q.Store(ctx, next)
			}
		}
		if !apierrors.IsConflict(err) {
			return
		}
	}
}

// locks has one lock for each name.
type locks struct {
	// mu guards waiting, which has the locks that a request holds or waits for.
	mu      sync.Mutex
	waiting map[string]*lock
}

type lock struct {
	// busy is full while a request holds the lock. wanted is the number of requests that hold it or wait for it.
	busy   chan struct{}
	wanted int
}

// acquire waits for the lock of a name. done releases it.
func (l *locks) acquire(ctx context.Context, name string) (done func(), err error) {
	l.mu.Lock()
	w := l.waiting[name]
	if w == nil {
		w = &lock{busy: make(chan struct{}, 1)}
		if l.waiting == nil {
			l.waiting = map[string]*lock{}
		}
		l.waiting[name] = w
	}
	w.wanted++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if w.wanted--; w.wanted == 0 {
			delete(l.waiting, name)
		}
	}
	select {
	case w.busy <- struct{}{}:
		return func() { <-w.busy; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
