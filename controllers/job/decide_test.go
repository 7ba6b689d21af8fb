package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// world is a Job and its pods, as an API server would hold them.
type world struct {
	job     *batchv1.Job
	pods    []*corev1.Pod
	backoff Backoff
	now     time.Time
	made    int
	out     strings.Builder
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// TestScenarios: commands change the world; after each the Job is looked at until nothing is left to
// do, every plan being printed and carried out.
//
//	job            a new Job with the spec that is given as YAML
//	pod NAME K=V   phase, exit (code of its container), ready, condition, node, gone, delete, or index
//	stray NAME     a pod of the Job that it did not make, with the keys of pod
//	spec           changes the spec by YAML
//	delete         the Job is deleted in the foreground
//	wait D         time passes
//
// With "fails" on any of them, creating and removing fails once.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := &world{now: epoch}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.out.Reset()
			w.change(t, d)
			w.run(t, d.HasArg("fails"))
			return w.out.String()
		})
	})
}

func (w *world) change(t *testing.T, d *datadriven.TestData) {
	switch d.Cmd {
	case "job":
		*w = world{now: epoch, job: &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: "job"}}}
		w.job.Spec = batchv1.JobSpec{Parallelism: ptr.To[int32](1), BackoffLimit: ptr.To[int32](6)}
		w.job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c"}}
		w.spec(t, d.Input)
	case "spec":
		w.spec(t, d.Input)
	case "delete":
		w.job.DeletionTimestamp = ptr.To(metav1.NewTime(w.now))
	case "wait":
		pause, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(pause)
	case "stray":
		p := newPod(w.job)
		w.store(p, d.CmdArgs[0].Key)
		w.edit(t, d)
	case "pod":
		w.edit(t, d)
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
}

func (w *world) spec(t *testing.T, text string) {
	if err := yaml.UnmarshalStrict([]byte(text), &w.job.Spec); err != nil {
		t.Fatal(err)
	}
}

// edit changes a pod like a kubelet or a user.
func (w *world) edit(t *testing.T, d *datadriven.TestData) {
	i := slices.IndexFunc(w.pods, func(p *corev1.Pod) bool { return p.Name == d.CmdArgs[0].Key })
	if i < 0 {
		t.Fatalf("no pod %s", d.CmdArgs[0].Key)
	}
	p := w.pods[i].DeepCopy()
	w.pods[i] = p
	for _, a := range d.CmdArgs[1:] {
		switch v := strings.Join(a.Vals, ","); a.Key {
		case "phase":
			p.Status.Phase = corev1.PodPhase(v)
		case "exit":
			code := int32(0)
			fmt.Sscan(v, &code)
			end := &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(w.now)}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: end}}}
		case "restarts":
			n := int32(0)
			fmt.Sscan(v, &n)
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: n}}
		case "ready":
			p.Status.Conditions = append(
				p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
		case "condition":
			p.Status.Conditions = append(
				p.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(v), Status: corev1.ConditionTrue},
			)
		case "node":
			p.Spec.NodeName = v
		case "index":
			p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: v}
		case "delete":
			w.remove(p.Name)
		case "gone":
			w.pods = slices.Delete(w.pods, i, i+1)
		case "fails":
		default:
			t.Fatalf("unknown key %s", a.Key)
		}
	}
}

func (w *world) store(p *corev1.Pod, name string) {
	p.Name, p.UID, p.CreationTimestamp = name, types.UID(name), metav1.NewTime(w.now)
	p.Status.Phase = corev1.PodPending
	w.pods = append(w.pods, p)
}

// remove deletes a pod: it goes at once if it has no finalizer and no node.
func (w *world) remove(name string) {
	i := slices.IndexFunc(w.pods, func(p *corev1.Pod) bool { return p.Name == name })
	p := w.pods[i].DeepCopy()
	w.pods[i] = p
	if p.DeletionTimestamp == nil {
		p.DeletionTimestamp = ptr.To(metav1.NewTime(w.now))
	}
	if len(p.Finalizers) == 0 && (p.Spec.NodeName == "" || workload.Finished(p)) {
		w.pods = slices.Delete(w.pods, i, i+1)
	}
}

func (w *world) release(name string) {
	i := slices.IndexFunc(w.pods, func(p *corev1.Pod) bool { return p.Name == name })
	w.pods[i] = w.pods[i].DeepCopy()
	w.pods[i].Finalizers = nil
	if w.pods[i].DeletionTimestamp != nil {
		w.remove(name)
	}
}

// run executes plans until there is none. Each step is checked against the guarantees of the package.
func (w *world) run(t *testing.T, fails bool) {
	for range 20 {
		plan := Decide(View{Job: w.job, Pods: w.pods, Backoff: w.backoff, Failed: fails}, w.now)
		if len(plan.Create) > 0 && len(plan.Remove) > 0 {
			t.Fatal("a pass that creates and removes")
		}
		w.print(plan)
		if !fails {
			w.carryOut(plan)
		}
		if plan.Status != nil {
			next := plan.Status.(*batchv1.Job)
			w.check(t, &next.Status)
			w.job, w.backoff = next, plan.Backoff
			fmt.Fprintf(&w.out, "status %s\n", line(&next.Status))
		}
		for _, e := range plan.Events {
			fmt.Fprintf(&w.out, "event %s %s: %s\n", e.Type, e.Reason, e.Message)
		}
		if plan.Status == nil && len(plan.Forget)+len(plan.Create)+len(plan.Remove) == 0 {
			if plan.Again > 0 {
				fmt.Fprintf(&w.out, "again in %v\n", plan.Again)
			}
			return
		}
		fails = false
	}
	t.Fatal("no end of plans")
}

func (w *world) print(plan Plan) {
	for _, p := range plan.Create {
		i := ""
		if indexed(w.job) {
			i = p.Annotations[batchv1.JobCompletionIndexAnnotation] + " failures=" +
				p.Annotations[batchv1.JobIndexFailureCountAnnotation]
		}
		fmt.Fprintf(&w.out, "create %s%s\n", p.GenerateName, i)
	}
	for _, p := range plan.Remove {
		fmt.Fprintf(&w.out, "remove %s released=%t\n", p.Name, slices.Contains(plan.Release, p))
	}
	for _, p := range plan.Forget {
		fmt.Fprintf(&w.out, "forget %s\n", p.Name)
	}
}

func (w *world) carryOut(plan Plan) {
	for _, p := range plan.Create {
		w.store(p.DeepCopy(), "p"+fmt.Sprint(w.made))
		w.made++
	}
	for _, p := range slices.Concat(plan.Forget, plan.Release) {
		w.release(p.Name)
	}
	for _, p := range plan.Remove {
		w.remove(p.Name)
	}
}

// check proves that no finished pod is counted twice or forgotten.
func (w *world) check(t *testing.T, s *batchv1.JobStatus) {
	if s.Succeeded < w.job.Status.Succeeded && !indexed(w.job) || s.Failed < w.job.Status.Failed {
		t.Errorf("counters went back: %s", line(s))
	}
	if Finished(&batchv1.Job{Status: *s}) {
		for _, p := range w.pods {
			if tracked(p) || workload.Active(p) || workload.Terminating(p) {
				t.Errorf("%s is left, finalizers %v", p.Name, p.Finalizers)
			}
		}
	}
}

// line returns a status in one line.
func line(s *batchv1.JobStatus) string {
	var b strings.Builder
	fmt.Fprintf(
		&b, "active=%d ready=%d terminating=%d succeeded=%d failed=%d", s.Active, *s.Ready, *s.Terminating, s.Succeeded,
		s.Failed)
	if u := s.UncountedTerminatedPods; len(u.Succeeded)+len(u.Failed) > 0 {
		fmt.Fprintf(&b, " uncounted=%v/%v", u.Succeeded, u.Failed)
	}
	if s.CompletedIndexes != "" {
		fmt.Fprintf(&b, " indexes=%s", s.CompletedIndexes)
	}
	if s.FailedIndexes != nil {
		fmt.Fprintf(&b, " lost=%q", *s.FailedIndexes)
	}
	if s.StartTime != nil {
		fmt.Fprintf(&b, " start=%v", s.StartTime.Sub(epoch))
	}
	if s.CompletionTime != nil {
		fmt.Fprintf(&b, " completion=%v", s.CompletionTime.Sub(epoch))
	}
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, " %s=%s(%s)", c.Type, c.Status, c.Reason)
	}
	return b.String()
}
