package job

import (
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// New returns the controller of Jobs. It records failures, so each run needs its own controller.
func New() workload.Controller {
	c := &controller{remembered: map[workload.Key]*memory{}}
	return workload.Controller{
		Name: "job-controller", For: workload.Jobs, Owns: []workload.Resource{workload.Pods},
		Awaits:   "spec.activeDeadlineSeconds, or the back-off of failed pods",
		Selector: func(o workload.Object) labels.Selector { return workload.Selector(o.(*batchv1.Job).Spec.Selector) },
		Decide:   c.decide,
	}
}

// controller records the memory of each Job between passes.
type controller struct {
	// mu guards remembered. The active pass over a Job owns its memory.
	mu         sync.Mutex
	remembered map[workload.Key]*memory
}

// memory is the controller's record of an unfinished Job.
type memory struct {
	uid types.UID
	// backoff includes the failures of all pods in the status.
	backoff Backoff
	// next also includes those of the pods in fresh, which the last plan adds to the status.
	next  Backoff
	fresh []types.UID
}

// recall returns the memory of the Job. It drops that of a deleted or finished Job.
func (c *controller) recall(key workload.Key, j *batchv1.Job) *memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j == nil || Finished(j) || !Managed(j) {
		delete(c.remembered, key)
		return nil
	}
	m := c.remembered[key]
	if m == nil || m.uid != j.UID {
		m = &memory{uid: j.UID}
		c.remembered[key] = m
	}
	return m
}

func (c *controller) decide(v workload.View, now time.Time) workload.Plan {
	j, _ := v.Object.(*batchv1.Job)
	m := c.recall(v.Key, j)
	if m == nil {
		return workload.Plan{}
	}
	pods, claims := workload.Claim(j, workload.Claiming{
		Selector: workload.Selector(j.Spec.Selector), Finalizers: []string{batchv1.JobTrackingFinalizer},
	},
		workload.Controlled[*corev1.Pod](v, j.UID), workload.Free[*corev1.Pod](v, j.Namespace))
	if len(claims) > 0 {
		return workload.Plan{Do: claims} // claimed pods are not changed again in the same pass
	}
	m.backoff = m.backoff.by(now)
	view := View{Job: j, Pods: pods, Backoff: m.backoff, Failed: v.Failed != nil}
	plan := Decide(view, now)
	if len(m.fresh) > 0 && !slices.ContainsFunc(m.fresh, func(u types.UID) bool {
		return slices.Contains(plan.Fresh, u)
	}) {
		m.backoff, m.fresh = m.next.by(now), nil // the stored status has them now
		view.Backoff = m.backoff
		plan = Decide(view, now)
	}
	m.next, m.fresh = plan.Backoff, plan.Fresh
	return plan.whole()
}

// whole returns the plan with its actions.
func (p Plan) whole() workload.Plan {
	for _, pod := range slices.Concat(p.Forget, p.Release) {
		p.Do = append(p.Do, workload.Update{Object: untracked(pod)})
	}
	for _, pod := range p.Remove {
		p.Do = append(p.Do, workload.DeletePod(pod))
	}
	for _, pod := range p.Create {
		p.Do = append(p.Do, workload.CreatePod(pod))
	}
	return p.Plan
}

// untracked returns the pod without the finalizer. The order of the others is unchanged (F-22).
func untracked(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(f string) bool { return f == batchv1.JobTrackingFinalizer })
	return pod
}
