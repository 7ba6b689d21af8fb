package workload

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// requests is an API that accepts every request, or rejects it with an error.
type requests struct {
	mu sync.Mutex // guards the fields below
	// made has the requests; most is the maximum number of concurrent ones.
	made      []string
	now, most int
	// fail, if set, is the answer.
	fail func(request string) error
}

func (r *requests) do(what string) error {
	r.mu.Lock()
	r.made = append(r.made, what)
	r.now++
	r.most = max(r.most, r.now)
	fail := r.fail
	r.mu.Unlock()
	time.Sleep(time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now--
	if fail != nil {
		return fail(what)
	}
	return nil
}

func (r *requests) Get(Resource, string, string) Object          { return owner() }
func (r *requests) Err(Resource, string, string) error           { return nil }
func (r *requests) Controlled(Resource, types.UID) []Object      { return nil }
func (r *requests) Free(Resource, string) []Object               { return nil }
func (r *requests) All(Resource, string) []Object                { return []Object{owner()} }
func (r *requests) View(_ context.Context, f func(Reader)) error { f(r); return nil }
func (r *requests) Glance(f func(Reader)) error                  { f(r); return nil }
func (r *requests) PodsMounting(Key) []*corev1.Pod               { return nil }
func (r *requests) Readable(Resource, string) bool               { return true }
func (r *requests) ApplyStatus(_ context.Context, o Object) error {
	return r.do("apply the status of " + o.GetName())
}
func (r *requests) Bind(context.Context, *corev1.Pod, string) error { return r.do("bind") }
func (r *requests) Follow(ctx context.Context, _ Resource, _ []Resource, _ func(Change)) error {
	<-ctx.Done()
	return ctx.Err()
}
func (r *requests) CreateEvent(_ context.Context, e *corev1.Event) error {
	return r.do("event " + e.Reason + ": " + e.Message)
}
func (r *requests) CountEvent(context.Context, *corev1.Event) error { return nil }
func (r *requests) Create(_ context.Context, o Object) (string, error) {
	return o.GetName(), r.do("create " + o.GetName())
}
func (r *requests) Update(_ context.Context, o Object, status bool) error {
	return r.do(fmt.Sprintf("update %s %v", o.GetName(), status))
}
func (r *requests) Delete(_ context.Context, _ Resource, k Key, _ *metav1.DeleteOptions) error {
	return r.do("delete " + k.Name)
}

func owner() *corev1.ReplicationController {
	return &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "o", UID: "u"}}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID(name)}}
}

// once makes one pass with a plan and returns its outcome.
func once(t *testing.T, r *requests, decide func(View) Plan) reconcile.Outcome {
	e := &engine{api: r, log: slog.New(slog.DiscardHandler),
		recorder:   NewRecorder(r, "x", slog.New(slog.DiscardHandler)),
		Controller: Controller{For: ReplicationControllers, Decide: func(v View, _ time.Time) Plan { return decide(v) }}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go e.recorder.Run(ctx)
	out := e.pass(ctx, Key{"a", "o"})
	synctest.Wait()
	return out
}

// TestCreatesDoubleUntilOneFails: creates begin with one and double; after a batch that fails no more are tried, the
// status reports that, and nothing else of the second plan is done.
func TestCreatesDoubleUntilOneFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		creates := func(n int) (do []Action) {
			for i := range n {
				do = append(do, Create{Object: pod(fmt.Sprint(i)), Failed: Warning("Failed", "not "+Problem)})
			}
			return do
		}
		r := &requests{fail: func(what string) error {
			if what == "create 4" {
				return errors.New("full")
			}
			return nil
		}}
		var seen *Failure
		out := once(t, r, func(v View) Plan {
			seen = v.Failed
			return Plan{Do: creates(100), Status: owner()}
		})
		made := map[string]bool{}
		for _, m := range r.made {
			made[m] = true
		}
		if !made["create 6"] || made["create 7"] || !made["update o true"] || !made["event Failed: not full"] ||
			len(r.made) != 9 {
			t.Errorf("requests %v", r.made)
		}
		if out.Err == nil || seen == nil || seen.Err.Error() != "full" || seen.Action.(Create).Object.GetName() != "4" {
			t.Errorf("the outcome is %v, the failure %v", out.Err, seen)
		}
		r = &requests{}
		if out := once(t, r, func(View) Plan {
			return Plan{Do: creates(500)}
		}); out.Err != nil || len(r.made) != 500 || r.most != inFlight {
			t.Errorf("%d requests, %d at once, %v", len(r.made), r.most, out.Err)
		}
	})
}

// TestStagesRunInOrder: stages run in order; a conflict ends the plan, and isn't reported.
func TestStagesRunInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := Plan{Status: owner(), Events: []Event{Normal("Done", "it")}, Do: []Action{
			Update{Object: pod("adopt")}, Create{Object: pod("one")}, Create{Object: pod("two")}, Delete{Object: pod("old")}}}
		r := &requests{}
		if out := once(t, r, func(View) Plan { return plan }); out.Err != nil {
			t.Error(out.Err)
		}
		if got := fmt.Sprint(r.made); got !=
			"[update adopt false create one create two delete old update o true event Done: it]" {
			t.Errorf("requests %s", got)
		}
		conflict := apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "adopt", errors.New("changed"))
		r = &requests{fail: func(string) error { return conflict }}
		asked := 0
		out := once(t, r, func(View) Plan { asked++; return plan })
		if !apierrors.IsConflict(out.Err) || len(r.made) != 1 || asked != 1 {
			t.Errorf("requests %v, asked %d times, %v", r.made, asked, out.Err)
		}
	})
}

// TestTerminatingNamespace: it is no failure (I-18), and the rest of the stage isn't tried.
func TestTerminatingNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminating := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "x", errors.New("going"))
		terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		r := &requests{fail: func(what string) error {
			if what == "update o true" {
				return nil
			}
			return terminating
		}}
		out := once(t, r, func(View) Plan {
			return Plan{Do: []Action{Create{Object: pod("a")}, Create{Object: pod("b")}, Bind{Pod: pod("c")}}, Status: owner()}
		})
		if got := fmt.Sprint(r.made); out.Err != nil || got != "[create a bind update o true]" {
			t.Errorf("requests %s, %v", got, out.Err)
		}
	})
}

// TestChangesOfDependentsCausePasses: which objects get a pass after changes of dependents.
func TestChangesOfDependentsCausePasses(t *testing.T) {
	e := &engine{api: &requests{}, log: slog.New(slog.DiscardHandler),
		Controller: Controller{For: ReplicationControllers, Owns: []Resource{Pods},
			Selector: func(Object) labels.Selector { return labels.SelectorFromSet(labels.Set{"app": "a"}) }}}
	meta := func(app, controller string) *Meta {
		m := &Meta{Key: Key{"a", "p"}, Labels: map[string]string{"app": app}}
		if controller != "" {
			m.Controller = Owner{APIVersion: "v1", Kind: "ReplicationController", Name: controller, UID: types.UID(controller)}
		}
		return m
	}
	other := meta("a", "x")
	other.Controller.APIVersion = "example.com/v1"
	dying := meta("a", "")
	dying.Deleting = true
	for _, c := range []struct {
		what     string
		old, new *Meta
		want     string
	}{
		{"a new pod of x", nil, meta("a", "x"), "[a/x]"},
		{"x's pod goes", meta("a", "x"), nil, "[a/x]"},
		{"it goes from x to y", meta("a", "x"), meta("a", "y"), "[a/x a/y]"},
		{"x lets it go", meta("a", "x"), meta("a", ""), "[a/o a/x]"},
		{"a new free pod", nil, meta("a", ""), "[a/o]"},
		{"a new free pod that no object selects", nil, meta("b", ""), "[]"},
		{"a free pod becomes wanted", meta("b", ""), meta("a", ""), "[a/o]"},
		{"a free pod stays as it is", meta("a", ""), meta("a", ""), "[]"},
		{"a free pod goes", meta("a", ""), nil, "[]"},
		{"a free pod is dying", meta("b", ""), dying, "[]"},
		{"a pod of another kind", nil, other, "[]"},
	} {
		if got := fmt.Sprint(e.affectedKeys(Change{Resource: Pods, Old: c.old, New: c.new})); got != c.want {
			t.Errorf("%s: %s, not %s", c.what, got, c.want)
		}
	}
	if got := fmt.Sprint(e.affectedKeys(Change{Resource: ReplicationControllers, Old: meta("a", "")})); got != "[a/p]" {
		t.Errorf("one that went: %s", got)
	}
}

// TestSlowPlanReplacesPlan: a plan is made after the view if its decision takes long. Nothing is done if nothing can be
// decided.
func TestSlowPlanReplacesPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &requests{}
		out := once(t, r, func(View) Plan {
			return Plan{Slow: func(context.Context) Plan {
				return Plan{Do: []Action{ApplyStatus{Object: pod("p")}}, Rest: time.Hour, Again: 2 * time.Hour}
			}}
		})
		if got := fmt.Sprint(r.made); got != "[apply the status of p]" || out.Err != nil || out.Rest != time.Hour ||
			out.Again != 2*time.Hour {
			t.Errorf("%s, %+v", got, out)
		}
		r, failed := &requests{}, errors.New("unreadable")
		out = once(t, r, func(View) Plan {
			return Plan{Slow: func(context.Context) Plan { return Plan{Err: failed, Do: []Action{Create{Object: pod("p")}}} }}
		})
		if !errors.Is(out.Err, failed) || len(r.made) > 0 {
			t.Errorf("%v, %+v", r.made, out)
		}
	})
}

// TestSlowIsNotCalledAfterFailure: the decision that takes long isn't made again after an action has failed.
func TestSlowIsNotCalledAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, calls := &requests{fail: func(string) error { return errors.New("full") }}, 0
		out := once(t, r, func(View) Plan {
			return Plan{Slow: func(context.Context) Plan {
				calls++
				return Plan{Do: []Action{ApplyStatus{Object: pod("p")}}}
			}}
		})
		if calls != 1 || len(r.made) != 1 || out.Err == nil {
			t.Errorf("%d calls, %v, %+v", calls, r.made, out)
		}
	})
}

// TestPauseAfterFailuresGrowsUpToMost: the pause after failures grows up to Most, which is 1000 s by default.
func TestPauseAfterFailuresGrowsUpToMost(t *testing.T) {
	for most, want := range map[time.Duration]time.Duration{0: 1000 * time.Second, time.Minute: time.Minute} {
		b := (&Controller{Most: most}).backoff()
		if first, last := b.After(1), b.After(100); first != 5*time.Millisecond || last != want {
			t.Errorf("%v: from %v to %v", most, first, last)
		}
	}
}

// TestStartKeysGetAPass: keys get a pass when changes are followed from the beginning.
func TestStartKeysGetAPass(t *testing.T) {
	e := &engine{api: &requests{}, Controller: Controller{For: Pods, Start: StartWith(Key{"a", "b"})}}
	if got := fmt.Sprint(e.affectedKeys(Change{})); got != "[a/b]" {
		t.Error(got)
	}
	if got := (&engine{Controller: Controller{For: Pods}}).affectedKeys(Change{}); got != nil {
		t.Error(got)
	}
}
