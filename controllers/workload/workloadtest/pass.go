package workloadtest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

func fields(o workload.Object) reflect.Value { return reflect.ValueOf(o).Elem() }

func changed(a, b workload.Object) bool {
	x, y := fields(a).FieldByName("Spec"), fields(b).FieldByName("Spec")
	return x.IsValid() && !equality.Semantic.DeepEqual(x.Interface(), y.Interface())
}

// Pass runs a pass of a controller over an object, carries its plan out as the engine would, and returns an indented
// line for each action; empty if there was none.
func (w *World) Pass(c workload.Controller, k workload.Key) string {
	did, again := w.pass(c, k)
	if again > 0 {
		did += fmt.Sprintf("  again in %v\n", again)
	}
	return did
}

// pass returns the actions, and the time until the next pass.
func (w *World) pass(c workload.Controller, k workload.Key) (did string, again time.Duration) {
	var b strings.Builder
	plan := w.decide(c, k, nil)
	for _, a := range plan.Do {
		name, err := w.do(a)
		_, done, failed := a.Target()
		if err != nil {
			fmt.Fprintf(&b, "  %v: %v\n", a, err)
			if !apierrors.IsAlreadyExists(err) {
				tell(&b, failed, name, err)
			}
			plan = w.decide(c, k, &workload.Failure{Action: a, Err: err})
			break
		}
		fmt.Fprintf(&b, "  %s\n", described(a, name))
		tell(&b, done, name, nil)
	}
	if plan.Status != nil {
		if now := w.Get(c.For, k.Namespace, k.Name); now != nil &&
			equality.Semantic.DeepEqual(status(plan.Status), status(now)) &&
			maps.Equal(plan.Status.GetAnnotations(), now.GetAnnotations()) {
			panic(fmt.Sprintf("%v: the plan writes a status that is unchanged: %+v", k, status(now)))
		}
		if err := w.update(plan.Status, true); err != nil {
			fmt.Fprintf(&b, "  status: %v\n", err)
		} else {
			fmt.Fprintf(&b, "  status\n")
		}
	}
	for _, e := range plan.Events {
		tell(&b, e, "", nil)
	}
	for _, n := range plan.Notes {
		fmt.Fprintf(&b, "  about %s %s:", workload.Of(n.About).Kind, n.About.GetName())
		tell(&b, n.Event, "", nil)
	}
	return b.String(), plan.Again
}

func described(a workload.Action, name string) string {
	if c, ok := a.(workload.Create); ok {
		return fmt.Sprintf("create %s %s", workload.Of(c.Object).Kind, name)
	}
	return a.String()
}

func status(o workload.Object) any {
	if s := fields(o).FieldByName("Status"); s.IsValid() {
		return s.Interface()
	}
	return nil
}

func tell(b *strings.Builder, e workload.Event, name string, err error) {
	e, ok := workload.Telling(e, name, err)
	if !ok {
		return
	}
	about := ""
	if e.Field != "" {
		about = " of " + e.Field
	}
	fmt.Fprintf(b, "  %s %s%s: %s\n", e.Type, e.Reason, about, e.Message)
}

// decide calls the controller, and checks that it changes no argument.
func (w *World) decide(c workload.Controller, k workload.Key, f *workload.Failure) workload.Plan {
	before := map[string]workload.Object{}
	for key, o := range w.objects {
		before[key] = o.DeepCopyObject().(workload.Object)
	}
	o := w.Get(c.For, k.Namespace, k.Name)
	v := workload.View{Reader: w, Key: k, Object: o, Failed: f}
	plan := c.Decide(v, w.Now)
	if plan.Slow != nil && f == nil {
		plan = plan.Slow(context.Background())
	}
	for key, o := range before {
		if !reflect.DeepEqual(o, w.objects[key]) {
			panic(fmt.Sprintf("%s changed %s, which is shared", c.Name, key))
		}
	}
	return plan
}

// mostRounds is the maximum number of rounds of Settle.
const mostRounds = 50

// Settle runs passes of the controllers over all objects, in order, until nothing changes any more, and returns the
// actions.
func (w *World) Settle(cs ...workload.Controller) string {
	var b strings.Builder
	for range mostRounds {
		var later strings.Builder
		before := w.revision + len(w.objects)<<32
		for _, c := range cs {
			for _, o := range w.All(c.For, "") {
				did, again := w.pass(c, workload.KeyOf(o))
				if did != "" {
					fmt.Fprintf(&b, "%s %s\n%s", c.For.Kind, o.GetName(), did)
				}
				if again > 0 {
					fmt.Fprintf(&later, "%s %s again in %v\n", c.For.Kind, o.GetName(), again)
				}
			}
		}
		if w.revision+len(w.objects)<<32 == before {
			return b.String() + later.String()
		}
	}
	return b.String() + "it doesn't settle\n"
}

// Check returns the first invariant of ownership that doesn't hold.
func (w *World) Check() error {
	for key, o := range w.objects {
		n := 0
		for _, r := range o.GetOwnerReferences() {
			if r.Controller != nil && *r.Controller {
				n++
			}
			if r.UID == "" || r.Name == "" || r.Kind == "" || r.APIVersion == "" {
				return fmt.Errorf("%s has an incomplete reference: %+v", key, r)
			}
		}
		if n > 1 {
			return fmt.Errorf("%s has %d controllers", key, n)
		}
		if c := metav1.GetControllerOf(o); c != nil && (c.BlockOwnerDeletion == nil || !*c.BlockOwnerDeletion) {
			return fmt.Errorf("%s doesn't block the deletion of its controller (I-01)", key)
		}
	}
	return nil
}
