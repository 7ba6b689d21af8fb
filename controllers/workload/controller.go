package workload

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/event"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Controller says what a controller does. Its functions are pure.
type Controller struct {
	// Name is who its events are from, as upstream's controller calls itself there.
	Name string
	// For is the type of the objects that passes are over.
	For Resource
	// Quiet says that a change of such an object alone is not followed by a pass over it: Wake says which is.
	Quiet bool
	// Owns are the types of dependents: a change of one that an object of For controls is followed by a pass
	// over that object.
	Owns []Resource
	// Selector says which free dependents the object would adopt: a new one, or one whose labels change, is
	// followed by a pass over every object that wants it. Nil if it adopts none.
	Selector func(Object) labels.Selector
	// Sees are further types whose changes matter; Wake says to which objects. Both are nil if there are none.
	// It is asked about Owns as well.
	Sees []Resource
	Wake func(r Reader, c Change) []Key
	// Start are looked at when the controller starts, whether they exist or not.
	Start []Key
	// Decide says what is to be done about an object.
	Decide func(v View, now time.Time) Plan
}

// Options configure how a controller runs. Zero values mean the defaults.
type Options struct {
	// Workers is how many passes run at once (default 5, as upstream's --concurrent-*-syncs).
	Workers int
	// Log receives what goes wrong; nil discards it.
	Log *slog.Logger
}

// backoff is that of upstream's queues (client-go util/workqueue: DefaultTypedControllerRateLimiter).
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 1000 * time.Second}

// engine carries out what a controller decides.
type engine struct {
	Controller
	api      API
	log      *slog.Logger
	recorder *event.Recorder
}

// Run has a controller work until ctx is done, and returns when everything that it started has returned.
func Run(ctx context.Context, c Controller, api API, o Options) {
	if o.Workers <= 0 {
		o.Workers = 5
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	log := o.Log.With("controller", c.Name)
	e := &engine{Controller: c, api: api, log: log, recorder: event.NewRecorder(api, c.Name, log)}
	loop := reconcile.Loop[Key, Key, reconcile.Outcome]{
		Schedule: reconcile.NewKeys(backoff, Key.compare),
		Workers:  o.Workers, Follow: e.follow, Pass: e.pass, Log: log, What: c.For.String(),
	}
	var recording sync.WaitGroup
	defer recording.Wait()
	recording.Go(func() { e.recorder.Run(ctx) })
	loop.Run(ctx)
}
