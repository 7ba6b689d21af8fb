package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
)

// The field managers of the specs and of the conditions of flow schemas and priority levels.
const (
	flowProducer = "api-priority-and-fairness-config-producer-v1"
	flowConsumer = "api-priority-and-fairness-config-consumer-v1"
)

const (
	// flowDelay is the delay of the first pass after the start: a new server must write the conditions of all
	// FlowSchemas, and requests of its first clients take precedence.
	flowDelay = 500 * time.Millisecond
	// flowInterval is the interval of checks of the mandatory and suggested objects.
	flowInterval = time.Minute
	// flowRest is the pause after a FlowSchema's condition was written, so that two servers that disagree don't write
	// without a pause.
	flowRest = 200 * time.Millisecond
)

// flowConditions keeps the condition Dangling of FlowSchemas (KEP-1040), which reports whether their priority level is
// missing (AS pkg/util/flowcontrol/apf_controller.go: presyncFlowSchemaStatus). exists reports whether there is a
// PriorityLevelConfiguration of that name, even one that can't be decoded.
func flowConditions(exists func(name string) bool) workload.Controller {
	return workload.Controller{
		Name: "priority-and-fairness", For: workload.FlowSchemas, Sees: []workload.Resource{workload.PriorityLevels},
		Task: "update the condition of a flow schema", Most: time.Minute,
		Wake: func(r workload.Reader, c workload.Change) []workload.Key {
			if c.Resource != workload.PriorityLevels || c.Old != nil && c.New != nil {
				return nil
			}
			return workload.KeysOf(r.All(workload.FlowSchemas, ""), func(workload.Object) bool { return true })
		},
		Decide: workload.Present(func(_ workload.View, s *flowcontrolv1.FlowSchema, now time.Time) workload.Plan {
			condition, changed := dangling(s, exists(s.Spec.PriorityLevelConfiguration.Name), metav1.NewTime(now))
			if !changed {
				return workload.Plan{}
			}
			next := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: s.Name}}
			next.Status.Conditions = []flowcontrolv1.FlowSchemaCondition{condition}
			return workload.Plan{Do: []workload.Action{workload.ApplyStatus{Object: next}}, Rest: flowRest}
		}),
	}
}

// flowParts returns the parts of the controller of API Priority and Fairness. The first run waits for flowDelay.
func flowParts(s *setup) []run {
	c := s.client()
	levels := c.API.Types().Lookup(flowcontrolv1.GroupName, "v1", workload.PriorityLevels.Plural)
	exists := func(name string) bool {
		o, _ := c.Cache.Get(c.API.Key(levels, "", name))
		return o != nil
	}
	parts := append(engine(func() workload.Controller { return flowConditions(exists) })(s), flowObjects(s))
	for i, p := range parts {
		began := false
		parts[i] = func(ctx context.Context) {
			if began || reconcile.Sleep(ctx, flowDelay) {
				began = true
				p(ctx)
			}
		}
	}
	return parts
}

// flowObjects checks the objects that every cluster has once a minute (K pkg/registry/flowcontrol/ensurer,
// rest/storage_flowcontrol.go). A mandatory or suggested object that is missing is created. The spec of a mandatory one
// is restored; that of a suggested one only if its annotation apf.kubernetes.io/autoupdate-spec is true or, without a
// valid annotation, as long as its generation is 1. The annotation is then set to true or false accordingly. An object
// with that annotation set to true that isn't one of the cluster's objects is deleted. An object that another client
// changes at the same time is left until the next check.
func flowObjects(s *setup) run {
	c := s.process.Client("", flowProducer)
	return func(ctx context.Context) {
		objects := &reconcile.Rounds{
			Interval: flowInterval, AtOnce: true, Changes: c.SpecChanges(workload.FlowSchemas, workload.PriorityLevels),
			Why:   "the next check of mandatory and suggested objects",
			Check: func(ctx context.Context) error { return checkFlows(ctx, c) },
			Failed: func(err error) {
				s.process.Log.Warn("failed to update flow schemas and priority levels",
					"err", err, "again", flowInterval)
			},
		}
		objects.Run(ctx)
	}
}

// checkFlows creates, updates and deletes objects. Levels come before the schemas that name them. If one of these
// objects can't be decoded, it does nothing, and returns an error that names the object.
func checkFlows(ctx context.Context, c *loopback.Client) error {
	levels, err := decoded[flowcontrolv1.PriorityLevelConfiguration](c, workload.PriorityLevels)
	if err != nil {
		return err
	}
	schemas, err := decoded[flowcontrolv1.FlowSchema](c, workload.FlowSchemas)
	if err != nil {
		return err
	}
	return errors.Join(keepFlow(ctx, c, flowLevels, levels), keepFlow(ctx, c, flowSchemas, schemas))
}

func decoded[T any](c *loopback.Client, r workload.Resource) (all []*T, err error) {
	snapshot, err := c.Cache.Snapshot(c.API.Types().Lookup(r.Group, r.Version, r.Plural).Collection, 0)
	if err != nil {
		return nil, err
	}
	for o := range snapshot.Ascend("", "") {
		one, err := loopback.Typed[T](o, o.Err)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func keepFlow[T workload.Object](ctx context.Context, api workload.API, k kind[T], stored []T) error {
	var errs []error
	note := func(verb string, o workload.Object, err error) {
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
			errs = append(errs, fmt.Errorf("%s %T %s: %w", verb, o, o.GetName(), err))
		}
	}
	byName := map[string]T{}
	for _, o := range stored {
		byName[o.GetName()] = o
		if unwanted(k, o) {
			note("deleting", o, api.Delete(ctx, workload.Of(o), workload.KeyOf(o),
				&metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: new(o.GetUID())}}))
		}
	}
	for i, all := range [][]T{k.mandatory, k.suggested} {
		for _, want := range all {
			have, found := byName[want.GetName()]
			if !found {
				_, err := api.Create(ctx, want)
				note("creating", want, err)
			} else if revised, ok := revise(k, have, want, i == 0); ok {
				note("updating", want, api.Update(ctx, revised, false))
			}
		}
	}
	return errors.Join(errs...)
}

// dangling returns the condition of a FlowSchema, and whether the stored one differs.
func dangling(
	s *flowcontrolv1.FlowSchema, hasLevel bool, now metav1.Time,
) (c flowcontrolv1.FlowSchemaCondition, changed bool) {
	refers := fmt.Sprintf(
		"This FlowSchema references the PriorityLevelConfiguration object named %q",
		s.Spec.PriorityLevelConfiguration.Name,
	)
	c = flowcontrolv1.FlowSchemaCondition{
		Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionFalse, LastTransitionTime: now,
		Reason: "Found", Message: refers + " and it exists",
	}
	if !hasLevel {
		c.Status, c.Reason = flowcontrolv1.ConditionTrue, "NotFound"
		c.Message = refers + " but there is no such object"
	}
	for _, old := range s.Status.Conditions {
		if old.Type == c.Type {
			return c, old.Status != c.Status || old.Reason != c.Reason || old.Message != c.Message
		}
	}
	return c, true
}

// kind has the differences between the two kinds of objects.
type kind[T workload.Object] struct {
	// mandatory and suggested are the objects that every cluster has.
	mandatory, suggested []T
	// setSpec copies from's spec to into, except what an administrator may set.
	setSpec func(into, from T)
}

var flowSchemas = kind[*flowcontrolv1.FlowSchema]{
	mandatory: bootstrap.MandatoryFlowSchemas, suggested: bootstrap.SuggestedFlowSchemas,
	setSpec: func(into, from *flowcontrolv1.FlowSchema) { into.Spec = *from.Spec.DeepCopy() },
}

var flowLevels = kind[*flowcontrolv1.PriorityLevelConfiguration]{
	mandatory: bootstrap.MandatoryPriorityLevelConfigurations,
	suggested: bootstrap.SuggestedPriorityLevelConfigurations,
	// The field exempt stays (K pkg/registry/flowcontrol/ensurer/prioritylevelconfiguration.go).
	setSpec: func(into, from *flowcontrolv1.PriorityLevelConfiguration) {
		exempt := into.Spec.Exempt
		into.Spec = *from.Spec.DeepCopy()
		if into.Spec.Type == flowcontrolv1.PriorityLevelEnablementExempt && exempt != nil {
			into.Spec.Exempt = exempt
		}
	},
}

// revise returns the new state of a stored object; ok is false if it is unchanged.
func revise[T workload.Object](k kind[T], stored, want T, mandatory bool) (revised T, ok bool) {
	update := mandatory || updated(stored)
	revised = stored.DeepCopyObject().(T)
	if value, err := autoUpdate(stored); err != nil || value != update {
		revised.SetAnnotations(labels.Merge(revised.GetAnnotations(),
			map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: strconv.FormatBool(update)}))
	}
	if update {
		k.setSpec(revised, want)
	}
	return revised, !equality.Semantic.DeepEqual(stored, revised)
}

// autoUpdate is the value of an object's annotation; an error if it is absent or invalid.
func autoUpdate(o workload.Object) (bool, error) {
	return strconv.ParseBool(o.GetAnnotations()[flowcontrolv1.AutoUpdateAnnotationKey])
}

// updated reports whether the spec of a suggested object is updated.
func updated(o workload.Object) bool {
	value, err := autoUpdate(o)
	if err != nil {
		return o.GetGeneration() == 1 // no one has changed it since it was created
	}
	return value
}

// unwanted reports whether an object was once maintained by a server, and isn't one of the cluster's objects any more.
func unwanted[T workload.Object](k kind[T], o T) bool {
	wanted := slices.ContainsFunc(slices.Concat(k.mandatory, k.suggested), func(want T) bool {
		return want.GetName() == o.GetName()
	})
	value, err := autoUpdate(o)
	return !wanted && err == nil && value
}
