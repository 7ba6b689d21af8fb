package fairness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

const (
	// begin is the delay of the first pass after the start: a new server has conditions to write for all FlowSchemas,
	// and its first clients' requests have precedence.
	begin = 500 * time.Millisecond
	// interval is the interval of passes over the mandatory and suggested objects.
	interval = time.Minute
	// rest is the pause after a FlowSchema's condition was written, so that two servers that disagree don't write
	// without a pause.
	rest = 200 * time.Millisecond
)

// backoff is the pause after failures to write a condition.
var backoff = reconcile.Backoff{Min: 50 * time.Millisecond, Max: time.Minute}

// Controller keeps the objects.
type Controller struct {
	api API
	log *slog.Logger
	now func(context.Context) time.Time
	// began says that Run has waited for begin.
	began bool

	schemas kind[*flowcontrolv1.FlowSchema]
	levels  kind[*flowcontrolv1.PriorityLevelConfiguration]
}

// New returns a controller that is not running; a nil log is silent.
func New(api API, log *slog.Logger) *Controller {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Controller{
		api: api, log: log, now: reconcile.Now,
		schemas: kind[*flowcontrolv1.FlowSchema]{
			mandatory: bootstrap.MandatoryFlowSchemas, suggested: bootstrap.SuggestedFlowSchemas,
			setSpec: setSchema, same: sameSchema, copied: (*flowcontrolv1.FlowSchema).DeepCopy,
		},
		levels: kind[*flowcontrolv1.PriorityLevelConfiguration]{
			mandatory: bootstrap.MandatoryPriorityLevelConfigurations, suggested: bootstrap.SuggestedPriorityLevelConfigurations,
			setSpec: setLevel, same: sameLevel, copied: (*flowcontrolv1.PriorityLevelConfiguration).DeepCopy,
		},
	}
}

// Run runs until ctx is done, and returns when all its goroutines have. It may be called again then.
func (c *Controller) Run(ctx context.Context) {
	if !c.began && !reconcile.Sleep(ctx, begin) {
		return
	}
	c.began = true
	var all sync.WaitGroup
	defer all.Wait()
	objects := &reconcile.Rounds{
		Interval: interval, AtOnce: true, Changes: c.api.Changes(), Why: "the next check of mandatory and suggested objects",
		Check: c.keepObjects, Failed: func(err error) {
			c.log.Warn("failed to update flow schemas and priority levels", "err", err, "again", interval)
		},
	}
	defer reconcile.Join(ctx, objects)()
	all.Go(func() { objects.Run(ctx) })
	loop := reconcile.Loop[string, string, reconcile.Outcome]{
		Schedule: reconcile.NewKeys(backoff, strings.Compare), Workers: 1,
		Follow: c.api.Follow, Pass: c.keepCondition, About: about, Log: c.log, What: "flow schemas",
	}
	loop.Run(ctx)
}

// about names a FlowSchema.
func about(name string) reconcile.Object {
	return reconcile.Object{Group: flowcontrolv1.GroupName, Version: "v1", Resource: "flowschemas", Kind: "FlowSchema",
		Name: name}
}

// keepCondition writes a FlowSchema's condition if it has changed.
func (c *Controller) keepCondition(ctx context.Context, name string) reconcile.Outcome {
	s, err := c.api.Schema(name)
	if err == nil && s == nil {
		return reconcile.Outcome{}
	}
	var condition flowcontrolv1.FlowSchemaCondition
	if err == nil {
		var changed bool
		if condition, changed = dangling(s, c.api.HasLevel(s.Spec.PriorityLevelConfiguration.Name), metav1.NewTime(c.now(ctx))); !changed {
			return reconcile.Outcome{}
		}
		next := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: name}}
		next.Status.Conditions = []flowcontrolv1.FlowSchemaCondition{condition}
		err = c.api.ApplyStatus(ctx, next)
	}
	if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
		c.log.Warn("failed to update the condition of a flow schema", "name", name, "err", err)
		return reconcile.Outcome{Err: err}
	}
	return reconcile.Outcome{Rest: rest}
}

// keepObjects creates, updates and deletes objects. Levels come before the schemas that name them.
func (c *Controller) keepObjects(ctx context.Context) error {
	levels, err := c.api.Levels()
	if err != nil {
		return err
	}
	schemas, err := c.api.Schemas()
	if err != nil {
		return err
	}
	return errors.Join(keep(ctx, c.api, &c.levels, levels), keep(ctx, c.api, &c.schemas, schemas))
}

// keep updates the objects of one kind. An object that has changed meanwhile is left for the next pass.
func keep[T Object](ctx context.Context, api API, k *kind[T], stored []T) error {
	var errs []error
	note := func(verb string, o Object, err error) {
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
			errs = append(errs, fmt.Errorf("%s %T %s: %w", verb, o, o.GetName(), err))
		}
	}
	byName := map[string]T{}
	for _, o := range stored {
		byName[o.GetName()] = o
		if unwanted(k, o) {
			note("deleting", o, api.Delete(ctx, o))
		}
	}
	for i, all := range [][]T{k.mandatory, k.suggested} {
		for _, want := range all {
			have, found := byName[want.GetName()]
			if !found {
				note("creating", want, api.Create(ctx, k.copied(want)))
			} else if revised, ok := revise(k, have, want, i == 0); ok {
				note("updating", want, api.Update(ctx, revised))
			}
		}
	}
	return errors.Join(errs...)
}
