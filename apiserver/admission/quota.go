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

// Quota is ResourceQuota: it refuses what is more than the quotas of a namespace allow, and charges
// the rest to them before it is stored (AS pkg/admission/plugin/resourcequota). What became less is
// found out by a controller.
//
// Upstream takes up to three attempts to charge, for all requests of a namespace that wait together; here
// they take turns.
type Quota struct {
	// Quotas returns the quotas of a namespace as they are stored now; nobody may change them.
	Quotas func(ctx context.Context, namespace string) ([]*corev1.ResourceQuota, error)
	// Store writes a quota's status if its resourceVersion is the stored one, else it fails with a
	// Conflict.
	Store func(ctx context.Context, q *corev1.ResourceQuota) error
	// Now defaults to time.Now.
	Now func() time.Time

	turns turns
}

// Bounds of what is tried when others change a quota at the same time.
const (
	chargeAttempts = 20
	refundTimeout  = 5 * time.Second
)

// Name implements Plugin.
func (*Quota) Name() string { return "ResourceQuota" }

// Validate implements Validator. It is the last plugin, as it is upstream, so that nothing is charged for
// what another one refuses.
func (q *Quota) Validate(ctx context.Context, a *Attributes) error {
	if a.Namespace == "" || a.Operation != Create && a.Operation != Update {
		return nil
	}
	w := usage.Write{Resource: a.Resource.GroupResource(), Subresource: a.Subresource, Object: a.Object, Now: q.now()}
	if a.Operation == Update {
		w.Old = a.Old
	}
	if !w.Counts() { // so charging a quota, which is a write too, doesn't come back here
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
		_, err := judge(a, quotas, w)
		return err
	}
	done, err := q.turns.take(ctx, a.Namespace)
	if err != nil {
		return fmt.Errorf("waiting for others that quotas are charged for: %w", err)
	}
	defer done()
	return q.charge(ctx, a, w)
}

func (q *Quota) now() time.Time {
	if q.Now == nil {
		return time.Now()
	}
	return q.Now()
}

// judge returns what is to be charged to which quota, or words the refusal.
func judge(a *Attributes, quotas []*corev1.ResourceQuota, w usage.Write) (map[string]corev1.ResourceList, error) {
	charges, err := usage.Charge(quotas, w)
	if err != nil {
		return nil, Forbidden(a, err)
	}
	return charges, nil
}

// charge judges and charges, again while others change the quotas. A quota that has been charged
// isn't judged again.
func (q *Quota) charge(ctx context.Context, a *Attributes, w usage.Write) error {
	charged := map[string]bool{}
	for attempt := 1; ; attempt++ {
		quotas, err := q.Quotas(ctx, a.Namespace)
		if err != nil {
			return fmt.Errorf("looking up quotas of %s: %w", a.Namespace, err)
		}
		open := slices.DeleteFunc(quotas, func(quota *corev1.ResourceQuota) bool { return charged[quota.Name] })
		charges, err := judge(a, open, w)
		if err != nil {
			return err
		}
		err = q.store(ctx, a, open, charges, charged)
		if !apierrors.IsConflict(err) || attempt == chargeAttempts {
			return err
		}
	}
}

// store charges one quota after the other, and notes which it has charged.
func (q *Quota) store(ctx context.Context, a *Attributes, quotas []*corev1.ResourceQuota, charges map[string]corev1.ResourceList, charged map[string]bool) error {
	for _, quota := range quotas {
		asked := charges[quota.Name]
		if len(asked) == 0 {
			continue
		}
		next := quota.DeepCopy()
		next.Status.Used = usage.Add(quota.Status.Used, asked)
		if err := q.Store(ctx, next); err != nil {
			return err
		}
		charged[quota.Name] = true
		a.OnFailure(func() { q.refund(ctx, a.Namespace, quota.Name, asked) })
	}
	return nil
}

// refund takes a charge back. If it can't, the controller finds out what is really used.
func (q *Quota) refund(ctx context.Context, namespace, name string, asked corev1.ResourceList) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refundTimeout)
	defer cancel()
	for range chargeAttempts {
		quotas, err := q.Quotas(ctx, namespace)
		if err != nil {
			return
		}
		err = nil
		for _, quota := range quotas {
			if quota.Name == name {
				next := quota.DeepCopy()
				next.Status.Used = usage.Refund(quota.Status.Used, asked)
				err = q.Store(ctx, next)
			}
		}
		if !apierrors.IsConflict(err) {
			return
		}
	}
}

// turns lets one at a time through for each name.
type turns struct {
	// mu guards waiting, in which a name's channel is while somebody has or wants its turn.
	mu      sync.Mutex
	waiting map[string]*turn
}

type turn struct {
	// busy is full while somebody has the turn; wanted counts who has or wants it.
	busy   chan struct{}
	wanted int
}

// take waits for the turn; done gives it back.
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
