package namespace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// errReplaced is returned if another namespace has the name now (E-08).
var errReplaced = errors.New("namespace uid has changed across retries")

// conflicts is the maximum number of attempts of a write after conflicts; the next pass tries again.
const conflicts = 10

// outcome is the result of a pass over a namespace.
type outcome struct {
	// done: the controller has nothing to do, now or later.
	done bool
	// after is the time until the next pass without an event, if done is not set; after an error it is the minimum.
	after time.Duration
	err   error
	// left is the known number of remaining objects, at the revision counted or a later one.
	left    int
	counted int64
	// revision is the revision of the namespace after the pass; 0 if it is not known.
	revision int64
}

// pass deletes the content of one namespace, as far as possible without waiting (E-08).
type pass struct {
	api API
	log *slog.Logger
}

func (p *pass) run(ctx context.Context, name string) outcome {
	ns, err := p.api.Get(ctx, name)
	if err != nil {
		return ended(err)
	}
	if ns, err = p.write(ctx, ns, p.markTerminating); err != nil {
		return ended(fmt.Errorf("setting the phase: %w", err))
	}
	if ns.DeletionTimestamp == nil || len(ns.Spec.Finalizers) == 0 {
		return outcome{done: true}
	}
	found := p.empty(ctx, ns)
	ns = p.report(ctx, ns, found)
	o := outcome{left: found.count, counted: found.counted, revision: revision(ns)}
	if o.err = errors.Join(append([]error{found.discovery}, found.contentErrs...)...); o.err != nil { // E-14
		o.after = pause(found.overdue)
		return o
	}
	if s := found.seconds; s > 0 { // E-13
		o.after = pause(s + 1)
		return o
	}
	if ns, err = p.write(ctx, ns, p.finalize); err != nil {
		return ended(fmt.Errorf("finalizing: %w", err))
	}
	return outcome{done: true, revision: revision(ns)}
}

// pause returns n seconds as a duration that does not overflow, as clients choose n.
func pause(n int64) time.Duration { return time.Duration(min(n, 1<<32)) * time.Second }

// revision returns the revision of a namespace; 0 if it has none.
func revision(ns *corev1.Namespace) int64 {
	n, _ := strconv.ParseInt(ns.ResourceVersion, 10, 64) // opaque for clients; without it a change causes a pass
	return n
}

// ended returns the outcome after an error about the namespace itself: done if it is gone.
func ended(err error) outcome {
	if apierrors.IsNotFound(err) {
		return outcome{done: true}
	}
	return outcome{err: err}
}

// write runs fn on ns, and on the newer state after a conflict (E-08).
func (p *pass) write(ctx context.Context, ns *corev1.Namespace,
	fn func(context.Context, *corev1.Namespace) (*corev1.Namespace, error)) (*corev1.Namespace, error) {
	for try := 1; ; try++ {
		written, err := fn(ctx, ns)
		if !apierrors.IsConflict(err) || try == conflicts {
			return written, err
		}
		fresh, err := p.api.Get(ctx, ns.Name)
		if err != nil {
			return nil, err
		}
		if fresh.UID != ns.UID {
			return nil, errReplaced
		}
		ns = fresh
	}
}

// markTerminating corrects a phase other than Terminating (E-04).
func (p *pass) markTerminating(ctx context.Context, ns *corev1.Namespace) (*corev1.Namespace, error) {
	if ns.DeletionTimestamp == nil || len(ns.Spec.Finalizers) == 0 || ns.Status.Phase == corev1.NamespaceTerminating {
		return ns, nil
	}
	ns = ns.DeepCopy()
	ns.Status.Phase = corev1.NamespaceTerminating
	return p.api.UpdateStatus(ctx, ns)
}

// finalize removes this controller's entry from spec.finalizers (E-08).
func (p *pass) finalize(ctx context.Context, ns *corev1.Namespace) (*corev1.Namespace, error) {
	stay, ok := letGo(ns.Spec.Finalizers)
	if !ok {
		return ns, nil
	}
	ns = ns.DeepCopy()
	ns.Spec.Finalizers = stay
	return p.api.Finalize(ctx, ns)
}

// report writes the conditions if they changed and returns the resulting namespace. A failure to write them doesn't
// stop the deletion of the content: the next pass reports again.
func (p *pass) report(ctx context.Context, ns *corev1.Namespace, f findings) *corev1.Namespace {
	written, err := p.write(ctx, ns, func(ctx context.Context, ns *corev1.Namespace) (*corev1.Namespace, error) {
		next, changed := conditions(ns.Status.Conditions, f, metav1.NewTime(reconcile.Now(ctx)))
		if !changed { // E-17
			return ns, nil
		}
		ns = ns.DeepCopy()
		ns.Status.Conditions = next
		return p.api.UpdateStatus(ctx, ns)
	})
	if err != nil {
		if ctx.Err() == nil && !apierrors.IsNotFound(err) {
			p.log.Warn("failed to update the conditions of a namespace", "namespace", ns.Name, "err", err)
		}
		return ns
	}
	return written
}

// empty deletes the content of a namespace, pods first (E-09).
func (p *pass) empty(ctx context.Context, ns *corev1.Namespace) findings {
	var f findings
	all, err := p.api.Resources()
	f.discovery = err
	first, rest := order(all)
	for _, r := range first {
		left, err := p.deleteAll(ctx, r, ns)
		f.add(left, err)
		// After an error pods may remain. Then other objects, which they may need, are kept, too.
		f.podsFirst = f.podsFirst || left.count > 0 || err != nil
	}
	if f.podsFirst {
		return f
	}
	for _, r := range rest {
		f.add(p.deleteAll(ctx, r, ns)) // E-09: an error stops no other type
	}
	return f
}

// deleteAll deletes the objects of one type and counts what remains (E-10).
func (p *pass) deleteAll(ctx context.Context, r Resource, ns *corev1.Namespace) (remains, error) {
	if err := p.deleteCollection(ctx, r, ns.Name); err != nil {
		return remains{resource: r}, err
	}
	items, revision, err := p.list(ctx, r, ns.Name)
	if err != nil {
		return remains{resource: r}, err
	}
	left, err := count(r, ns.Name, ns.DeletionTimestamp.Time, reconcile.Now(ctx), items)
	left.counted = revision
	return left, err
}

func (p *pass) deleteCollection(ctx context.Context, r Resource, namespace string) error {
	if r.Collection {
		err := p.api.Delete(ctx, r, namespace, "")
		if !unserved(err) {
			return err
		}
	}
	items, _, err := p.list(ctx, r, namespace) // E-10
	if err != nil {
		return err
	}
	for _, i := range items {
		if err := p.api.Delete(ctx, r, namespace, i.Name); err != nil && !unserved(err) {
			return err
		}
	}
	return nil
}

// list returns the objects of a type and the revision of the read; none if it can't be listed.
func (p *pass) list(ctx context.Context, r Resource, namespace string) ([]Item, int64, error) {
	items, revision, err := p.api.Metadata(ctx, r, namespace)
	if unserved(err) {
		return nil, revision, nil
	}
	return items, revision, err
}

// unserved reports whether a type or a verb isn't served (any more), or an object is gone (E-10).
func unserved(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}
