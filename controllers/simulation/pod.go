package simulation

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Options configure the simulation.
type Options struct {
	// Delay is the duration of each step. As times are stored in whole seconds, a step may take up to a second less.
	Delay time.Duration
	// Nodes are the nodes, which the caller has created; default: one node, NodeName.
	Nodes []*corev1.Node
	// Volumes returns the reason why the volumes of a pod permit no node at all (why), or not a certain node (fits),
	// and the writes that bind their claims for a node (bind); ready reports whether all are bound. fits is nil if the
	// pod has no claims. assigned reports whether another pod is on a node, or is being assigned. Without Volumes pods
	// don't wait for their claims.
	Volumes func(r workload.Reader, pod *corev1.Pod, assigned func(*corev1.Pod) bool) (
		why string, fits func(*corev1.Node) string, bind func(*corev1.Node) (do []workload.Action, ready bool))
}

// Pods simulates the kubelets' work on pods.
func Pods(o Options) workload.Controller {
	return workload.Controller{Name: "kubelet", For: workload.Pods, Quiet: true, Decide: o.pod,
		Wake: func(_ workload.Reader, c workload.Change) (keys []workload.Key) {
			if of := cmp.Or(c.New, c.Old); of.Node != "" {
				keys = append(keys, of.Key)
			}
			return keys
		},
		Awaits: "the delay, run time, deadline or grace period of a simulated pod"}
}

// pod decides the next step of a pod.
func (o Options) pod(v workload.View, now time.Time) workload.Plan {
	p, _ := v.Object.(*corev1.Pod)
	switch {
	case p == nil || p.Spec.NodeName == "":
		return workload.Plan{}
	case p.DeletionTimestamp != nil:
		return o.end(p, now)
	case workload.Finished(p):
		return workload.Plan{}
	}
	wait, limited := deadline(p, now)
	if limited && wait <= 0 {
		return overdue(p, now)
	}
	var plan workload.Plan
	if started(p) {
		plan = o.run(p, now)
	} else if p.Status.Phase == corev1.PodPending {
		plan = o.start(v, p, now)
	}
	if limited {
		plan.Within(wait)
	}
	return plan
}

// deadline returns the time until a pod on a node has been active for too long; ok is false if it has no deadline (K
// pkg/kubelet/active_deadline.go: pastActiveDeadline). A kubelet admits a pod when it is assigned.
func deadline(p *corev1.Pod, now time.Time) (wait time.Duration, ok bool) {
	seconds := p.Spec.ActiveDeadlineSeconds
	if seconds == nil {
		return 0, false
	}
	return active(p).Add(time.Duration(*seconds) * time.Second).Sub(now), true
}

// active returns the time since which a pod on a node is active.
func active(p *corev1.Pod) time.Time {
	if p.Status.StartTime != nil {
		return p.Status.StartTime.Time
	}
	return scheduled(p)
}

// overdue fails a pod after its deadline.
func overdue(p *corev1.Pod, now time.Time) workload.Plan {
	p = p.DeepCopy()
	event := workload.Event{Type: corev1.EventTypeNormal, Reason: "DeadlineExceeded", Host: p.Spec.NodeName,
		Message: "Pod was active on the node longer than the specified deadline"}
	events := append([]workload.Event{event}, killed(p)...)
	finished(p, metav1.NewTime(now), corev1.PodFailed)
	p.Status.Reason, p.Status.Message = event.Reason, event.Message
	return workload.Plan{Status: p, Events: events}
}

// started reports whether the simulation has started a pod. A running pod without statuses of containers was set to
// running by a client, and is not changed.
func started(p *corev1.Pod) bool {
	return len(p.Status.ContainerStatuses) > 0 && (p.Status.StartTime != nil || p.Status.Phase != corev1.PodPending)
}

func (o Options) start(v workload.Reader, p *corev1.Pod, now time.Time) workload.Plan {
	if p.Annotations[Annotation] == Pending {
		return workload.Plan{}
	}
	if left := left(scheduled(p), o.Delay, now); left > 0 {
		return workload.Plan{Again: left}
	}
	p = p.DeepCopy()
	begin(p, hosts(workload.Get[*corev1.Node](v, "", p.Spec.NodeName), p.Spec.NodeName), metav1.NewTime(now))
	events, _ := o.sync(p, metav1.NewTime(now))
	return workload.Plan{Status: p, Events: events}
}

// run updates the status of a pod that has started.
func (o Options) run(p *corev1.Pod, now time.Time) workload.Plan {
	next := p.DeepCopy()
	events, again := o.sync(next, metav1.NewTime(now))
	if equality.Semantic.DeepEqual(p.Status, next.Status) {
		return workload.Plan{Again: again}
	}
	return workload.Plan{Status: next, Events: events}
}

// scheduled returns the time at which a pod was assigned.
func scheduled(p *corev1.Pod) time.Time {
	if c := workload.PodCondition(p, corev1.PodScheduled); c != nil {
		return c.LastTransitionTime.Time
	}
	return p.CreationTimestamp.Time
}

// left returns the rest of a period; 0 if its start is in the future, because then the clock was set back.
func left(since time.Time, d time.Duration, now time.Time) time.Duration {
	if since.After(now) {
		return 0
	}
	return d - now.Sub(since)
}

// end removes a pod after its grace period, or earlier after the delay. A pod with finalizers first becomes finished.
func (o Options) end(p *corev1.Pod, now time.Time) workload.Plan {
	grace := time.Duration(0)
	if s := p.DeletionGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	wait := left(p.DeletionTimestamp.Add(-grace), min(o.Delay, grace), now)
	switch {
	case wait > 0:
		return workload.Plan{Again: wait}
	case len(p.Finalizers) > 0 && !workload.Finished(p):
		p = p.DeepCopy()
		events := killed(p)
		finished(p, metav1.NewTime(now), corev1.PodFailed)
		return workload.Plan{Status: p, Events: events}
	case grace == 0 && p.DeletionGracePeriodSeconds != nil:
		return workload.Plan{} // only its finalizers delay the removal
	}
	return workload.Plan{Do: []workload.Action{workload.Delete{Object: p, Grace: new(int64(0))}}, Events: killed(p)}
}
