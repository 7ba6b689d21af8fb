package node

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// one is a store of one pod and its node, which has no NoExecute taint.
type one struct {
	workload.Reader
	pod  *corev1.Pod
	node *corev1.Node
}

func (o one) Get(r workload.Resource, _, _ string) workload.Object {
	if r == workload.Nodes {
		return o.node
	}
	return o.pod
}

// TestNoPassWithoutTaints: without taints, events of pods and nodes cause no pass and allocate nothing.
func TestNoPassWithoutTaints(t *testing.T) {
	o := one{
		pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}, Spec: corev1.PodSpec{NodeName: "n"}},
		node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{
			Taints: []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}}},
	}
	c := Eviction()
	var r workload.Reader = o
	pod, node := &workload.Meta{Key: workload.KeyOf(o.pod)}, &workload.Meta{Key: workload.KeyOf(o.node)}
	passes := 0
	n := testing.AllocsPerRun(100, func() {
		passes += len(c.Wake(r, workload.Change{Resource: workload.Pods, Old: pod, New: pod})) +
			len(c.Wake(r, workload.Change{Resource: workload.Nodes, Old: node, New: node}))
	})
	if n != 0 || passes != 0 {
		t.Errorf("%v allocations, %d passes", n, passes)
	}
}

// TestEvictionOfGonePodIsCanceled: a scheduled eviction of a pod that is gone is cancelled, with an event.
func TestEvictionOfGonePodIsCanceled(t *testing.T) {
	seconds := int64(60)
	o := one{
		pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}, Spec: corev1.PodSpec{NodeName: "n",
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds}}}},
		node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{
			Taints: []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoExecute}}}},
	}
	c := Eviction()
	v := workload.View{Reader: o, Key: workload.KeyOf(o.pod), Object: o.pod}
	if plan := c.Decide(v, time.Now()); plan.Again != time.Minute {
		t.Fatalf("plan %+v", plan)
	}
	m := &workload.Meta{Key: v.Key}
	if keys := c.Wake(o, workload.Change{Resource: workload.Pods, Old: m}); len(keys) != 1 || keys[0] != v.Key {
		t.Errorf("passes over %v", keys)
	}
	v.Object = nil
	const message = "Cancelling deletion of Pod a/p"
	if plan := c.Decide(v, time.Now()); len(plan.Notes) != 1 || plan.Notes[0].Event.Message != message {
		t.Errorf("plan %+v", plan)
	}
	if plan := c.Decide(v, time.Now()); len(plan.Notes) != 0 {
		t.Errorf("it is cancelled twice: %+v", plan)
	}
}
