package workload

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Controller defines a controller. Its functions are pure, except for a Plan's Slow.
type Controller struct {
	// Name is the source of its events, as in upstream.
	Name string
	// For is the type of the objects over which passes run.
	For Resource
	// Quiet reports whether changes of these objects cause no pass by themselves: Wake then decides which changes do.
	Quiet bool
	// Owns are the types of dependents: a change of a dependent causes a pass over the object of For that controls it.
	Owns []Resource
	// Selector selects the free dependents that the object would adopt: a new dependent, or one whose labels change,
	// causes a pass over every object whose selector matches. Nil if the controller adopts none.
	Selector func(Object) labels.Selector
	// Sees has further types whose changes matter. Wake returns the objects that need a pass after a change of Owns or
	// Sees. Both are nil if there are none.
	Sees []Resource
	Wake func(r Reader, c Change) []Key
	// Start returns the keys that get a pass whenever Follow starts from the beginning, whether or not they exist; nil
	// for none.
	Start func() []Key
	// Decide decides what to do about an object.
	Decide func(v View, now time.Time) Plan
	// Task names the work of a pass in the log of a failure; "sync an object" if empty.
	Task string
	// Awaits names the cause of Plan.Again in reports: a field, or an event that is due. It may be empty if no plan
	// sets Again.
	Awaits string
	// Most is the maximum pause after failures in a row; 1000 s if 0.
	Most time.Duration
}

// StartWith returns a Controller's Start of fixed keys.
func StartWith(keys ...Key) func() []Key { return func() []Key { return keys } }

// Present returns a Decide that plans nothing if the object does not exist.
func Present[T Object](decide func(v View, o T, now time.Time) Plan) func(View, time.Time) Plan {
	return func(v View, now time.Time) (plan Plan) {
		if v.Object != nil {
			plan = decide(v, v.Object.(T), now)
		}
		return plan
	}
}

// Expiring is the Decide of controllers that delete objects at their end, as how says; never if the end is zero.
func Expiring[T Object](end func(T) time.Time, how Delete) func(View, time.Time) Plan {
	return Present(func(_ View, o T, now time.Time) Plan {
		switch at := end(o); {
		case at.IsZero(), o.GetDeletionTimestamp() != nil:
			return Plan{}
		case at.After(now):
			return Plan{Again: at.Sub(now)}
		}
		return Plan{Do: []Action{Delete{Object: o, Exact: how.Exact, Policy: how.Policy}}}
	})
}

// Options configure how a controller runs. Zero values mean the defaults.
type Options struct {
	// Workers is the maximum number of concurrent passes (default 5, as upstream's --concurrent-*-syncs).
	Workers int
	// Log receives errors and warnings; nil discards them.
	Log *slog.Logger
}

// Backoff is a pause that doubles with each failure.
type Backoff = reconcile.Backoff

// backoff returns the pauses after failures: by default those of upstream's queues (client-go util/workqueue:
// DefaultTypedControllerRateLimiter).
func (c *Controller) backoff() Backoff {
	return Backoff{Min: 5 * time.Millisecond, Max: cmp.Or(c.Most, 1000*time.Second)}
}

// engine executes the plans of a controller.
type engine struct {
	Controller
	api      API
	log      *slog.Logger
	recorder *Recorder
}

// about names the object of a pass; none for the zero Key, of a pass over all objects.
func (e *engine) about(key Key) reconcile.Object {
	if key == (Key{}) {
		return reconcile.Object{}
	}
	return e.For.About(key)
}

// Run runs a controller until ctx is done, and returns when everything that it started has returned.
func Run(ctx context.Context, c Controller, api API, o Options) {
	if o.Workers <= 0 {
		o.Workers = 5
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	c.Task = cmp.Or(c.Task, "sync an object")
	log := o.Log.With("controller", c.Name)
	e := &engine{Controller: c, api: api, log: log, recorder: NewRecorder(api, c.Name, log)}
	loop := reconcile.Loop[Key]{
		Keys:    reconcile.NewKeys(c.backoff(), Key.Compare),
		Workers: o.Workers, Follow: e.follow, Pass: e.pass, About: e.about, Log: log, What: c.For.String(),
	}
	defer reconcile.JoinBeside(ctx, &e.recorder.unsent)()
	var recording sync.WaitGroup
	defer recording.Wait()
	recording.Go(func() { e.recorder.Run(ctx) })
	loop.Run(ctx)
}
