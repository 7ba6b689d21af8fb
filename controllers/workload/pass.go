package workload

import (
	"cmp"
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

const mostRest = time.Second

// pass makes a plan for an object and executes it. The next pass over the object waits for the duration of this one
// without its actions, so that an object with many dependents that change often does not use a whole processor, and its
// status is not written for each of them.
func (e *engine) pass(ctx context.Context, key Key) reconcile.Outcome {
	start := time.Now()
	v, plan, err := e.decide(ctx, key, nil)
	if err = cmp.Or(err, plan.Err); err != nil {
		return e.failed(ctx, key, err)
	}
	out := reconcile.Outcome{Again: plan.Again, Why: e.Awaits}
	decided := time.Now()
	failure := e.do(ctx, v, plan.Do)
	start = start.Add(time.Since(decided))
	if failure == nil {
		out.Err = e.conclude(ctx, v, plan)
	} else {
		out.Err = failure
		if !stale(failure) {
			if v, plan, err = e.decide(ctx, key, failure); err == nil {
				err = e.conclude(ctx, v, plan)
			}
			out.Err = errors.Join(failure, err)
		}
	}
	if out.Err != nil {
		out.Err, out.Again = e.failed(ctx, key, out.Err).Err, 0
	}
	out.Rest = max(min(time.Since(start), mostRest), plan.Rest)
	return out
}

// failed logs an error. Conflicts are not logged: they are normal.
func (e *engine) failed(ctx context.Context, key Key, err error) reconcile.Outcome {
	if ctx.Err() == nil && !stale(err) && !apierrors.IsAlreadyExists(err) {
		e.log.Warn("failed to "+e.Task, "namespace", key.Namespace, "name", key.Name, "err", err)
	}
	return reconcile.Outcome{Err: err}
}

// stale reports whether an error only means that an object has changed since the view.
func stale(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// decide makes a plan from the newest state.
func (e *engine) decide(ctx context.Context, key Key, failed *Failure) (v View, plan Plan, err error) {
	v = View{Key: key, Failed: failed}
	err = e.api.View(ctx, func(r Reader) {
		v.Reader, v.Object = r, r.Get(e.For, key.Namespace, key.Name)
		plan = e.Decide(v, reconcile.Now(ctx))
	})
	v.Reader = nil // it must not be kept
	if err == nil && plan.Slow != nil && failed == nil {
		plan = plan.Slow(ctx)
	}
	return v, plan, err
}

// conclude writes the status and records the events.
func (e *engine) conclude(ctx context.Context, v View, plan Plan) error {
	if plan.Status != nil {
		if err := e.api.Update(ctx, plan.Status, true); err != nil {
			return err
		}
	}
	for _, ev := range plan.Events {
		e.record(ctx, v.Object, ev)
	}
	for _, n := range plan.Notes {
		e.record(ctx, n.About, n.Event)
	}
	return nil
}

// record records an event about the object of a pass, or of an action.
func (e *engine) record(ctx context.Context, about Object, ev Event) {
	if about == nil {
		return
	}
	e.recorder.Record(Refer(about), ev, reconcile.Now(ctx))
}

// Refer returns a reference to an object, for its Events.
func Refer(o Object) corev1.ObjectReference {
	r := Of(o)
	return corev1.ObjectReference{Kind: r.Kind, APIVersion: r.APIVersion(), Namespace: o.GetNamespace(),
		Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion()}
}

// request executes an action, and records its events. It returns no failure for harmless errors; quit reports whether
// the rest of the stage is skipped.
func (e *engine) request(ctx context.Context, v View, a Action) (f *Failure, quit bool) {
	o, done, failed := a.Target()
	name, err := o.GetName(), error(nil)
	switch a := a.(type) {
	case Create:
		name, err = e.api.Create(ctx, o)
	case Update:
		err = e.api.Update(ctx, o, a.Status)
	case ApplyStatus:
		err = e.api.ApplyStatus(ctx, o)
	case Bind:
		err = e.api.Bind(ctx, a.Pod, a.Node)
	case Delete:
		err = e.api.Delete(ctx, Of(o), KeyOf(o), a.options())
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && !a.Exact { // another object has its name
			return nil, false
		}
	}
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause): // I-18
		return nil, true
	case err == nil:
		if ev, ok := Telling(done, name, nil); ok {
			e.record(ctx, v.Object, ev)
		}
		return nil, false
	case ctx.Err() != nil || stale(err):
		return &Failure{a, err}, true
	}
	if ev, ok := Telling(failed, name, err); ok && !apierrors.IsAlreadyExists(err) {
		e.record(ctx, v.Object, ev)
	}
	return &Failure{a, err}, false
}

func (d Delete) options() *metav1.DeleteOptions {
	out := &metav1.DeleteOptions{GracePeriodSeconds: d.Grace,
		Preconditions: &metav1.Preconditions{UID: new(d.Object.GetUID())}}
	if d.Exact {
		out.Preconditions.ResourceVersion = new(d.Object.GetResourceVersion())
	}
	if d.Policy != "" {
		out.PropagationPolicy = &d.Policy
	}
	return out
}
