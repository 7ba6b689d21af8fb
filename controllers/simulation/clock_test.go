package simulation

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestClockSetBack: no step of a pod waits until a clock that was set back has caught up.
func TestClockSetBack(t *testing.T) {
	now := time.Unix(1e9, 0)
	later := metav1.NewTime(now.Add(3 * time.Hour))
	grace := int64(30)
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p", CreationTimestamp: later}, Spec: corev1.PodSpec{NodeName: "n"},
		}
		change(p)
		return p
	}
	for name, p := range map[string]*corev1.Pod{
		"start": pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }),
		"succeed": pod(func(p *corev1.Pod) {
			p.Annotations = map[string]string{Annotation: Succeed}
			p.Spec.Containers, p.Spec.RestartPolicy = []corev1.Container{{Name: "c"}}, corev1.RestartPolicyNever
			begin(p, []string{hostIP}, later)
			Options{}.sync(p, later)
		}),
		"end": pod(func(p *corev1.Pod) {
			p.Status.Phase, p.DeletionTimestamp, p.DeletionGracePeriodSeconds = corev1.PodRunning, &later, &grace
		}),
	} {
		t.Run(name, func(t *testing.T) {
			plan := Options{Delay: 2 * time.Second}.pod(workload.View{Reader: workloadtest.New(), Object: p}, now)
			if plan.Again > 0 || plan.Status == nil && len(plan.Do) == 0 {
				t.Errorf("again in %v, does %s", plan.Again, fmt.Sprint(plan.Do))
			}
		})
	}
}
