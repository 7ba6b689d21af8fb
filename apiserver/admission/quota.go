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

// Quota is ResourceQuota: it rejects requests that exceed the quotas of a namespace, and adds the usage of the others
// to the quotas before they are stored (AS pkg/admission/plugin/resourcequota). A controller recomputes usage that
// decreased.
//
// Upstream updates the quotas for all waiting requests of a namespace together, in up to three attempts; here the
// requests take turns.
type Quota struct {
	// Quotas returns the quotas of a namespace by a consistent read; callers must not change them.
	Quotas func(ctx context.Context, namespace string) ([]*corev1.ResourceQuota, error)
	// Store writes the status of a quota. It returns a Conflict if the resourceVersion is not the stored one.
	Store func(ctx context.Context, q *corev1.ResourceQuota) error
	// Now defaults to time.Now.
	Now func() time.Time

	turns turns
}

// Limits for the attempts when other requests change a quota at the same time.
const (
	updateAttempts  = 20
	subtractTimeout = 5 * time.Second
)

// Name implements Plugin.
func (*Quota) Name() string { return "ResourceQuota" }

// Validate implements Validator. It is the last plugin, as upstream, so that nothing is added for a request that
// another plugin rejects.
func (q *Quota) Validate(ctx context.Context, a *Attributes) error {
	if a.Namespace == "" || a.Operation != Create && a.Operation != Update {
		return nil
	}
	w := usage.Write{Resource: a.Resource.GroupResource(), Subresource: a.Subresource, Object: a.Object, Now: q.now()}
	if a.Operation == Update {
		w.Old = a.Old
	}
	if !w.Counts() { // so the write of a quota's status does not come back here
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
	done, err := q.turns.take(ctx, a.Namespace)
	if err != nil {
		return fmt.Errorf("waiting for others that quotas are charged for: %w", err)
	}
	defer done()
	return q.addUsage(ctx, a, w)
}

func (q *Quota) now() time.Time {
	if q.Now == nil {
		return time.Now()
	}
	return q.Now()
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

// addUsage checks the quotas and adds the usage, again while other requests change them. A quota that has the usage is
// not checked again.
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

// store updates the quotas one after the other, and records which have been updated.
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

// subtractUsage subtracts the usage again. If it can't, the controller recomputes the usage.
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

// turns lets one request at a time through for each name.
type turns struct {
	// mu guards waiting, which has an entry for each name whose turn is taken or waited for.
	mu      sync.Mutex
	waiting map[string]*turn
}

type turn struct {
	// busy is full while the turn is taken; wanted is how many have it or wait for it.
	busy   chan struct{}
	wanted int
}

// take waits for the turn; done returns it.
func (t *turns) take(ctx context.Context, name string) (done func(), err error) {
	t.mu.Lock()
	w := t.waiting[name]
	if w == nil {
		w = &turn{busy: make(chan struct{}, 1)}
		if t.waiting == nil {
			t.waiting = map[string]*turn{}
		}
		t.waiting[name] = w
	}
	w.wanted++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if w.wanted--; w.wanted == 0 {
			delete(t.waiting, name)
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
