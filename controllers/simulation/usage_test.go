package simulation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAnnotationOverridesRequestedUsage: web requests 200m and 100Mi, its sidecar 10m, and bare nothing.
func TestAnnotationOverridesRequestedUsage(t *testing.T) {
	for annotation, want := range map[string]string{
		"":                              "web 200m 100Mi, bare 0 0, side 10m 0",
		"cpu=250m,memory=64Mi":          "web 250m 64Mi, bare 250m 64Mi, side 250m 64Mi",
		"cpu=150%":                      "web 300m 100Mi, bare 0 0, side 15m 0",
		"memory=33%":                    "web 200m 33Mi, bare 0 0, side 10m 0",
		" web/cpu=1 , cpu=2m,side/cpu=": "web 1 100Mi, bare 2m 0, side 10m 0",
		"web/cpu=50%, memory=1Gi":       "web 100m 1Gi, bare 0 1Gi, side 10m 1Gi",
		"cpu=much,memory=-1":            "web 200m 100Mi, bare 0 0, side 10m 0",
		"cpu=-5%,cpu/web=1,=,%,gpu=1":   "web 200m 100Mi, bare 0 0, side 10m 0",
	} {
		m := Metrics(measuredPod(annotation), time.Unix(100, 5e8))
		var got []string
		for _, c := range m.Containers {
			got = append(got, fmt.Sprintf("%s %v %v", c.Name, c.Usage.Cpu(), c.Usage.Memory()))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, want %q", annotation, got, want)
		}
	}
}

// TestPodIsMeasuredFromStartOfContainers: a pod is measured from the start of its containers on, over 15 s at most.
func TestPodIsMeasuredFromStartOfContainers(t *testing.T) {
	for seconds, window := range map[int64]time.Duration{
		89: 0, 90: 0, 91: time.Second, 104: 14 * time.Second, 105: window, 1000: window,
	} {
		m := Metrics(measuredPod(""), time.Unix(seconds, 5e8))
		if m.Window.Duration != window || m.Timestamp.Unix() != seconds {
			t.Errorf("after %d s: %v up to %v, want %v", seconds, m.Window.Duration, m.Timestamp.Unix(), window)
		}
	}
	pending, crashed := measuredPod(""), measuredPod("")
	pending.Status.Phase = corev1.PodPending
	crashed.Status.ContainerStatuses, crashed.Status.InitContainerStatuses = nil, nil
	for _, p := range []*corev1.Pod{pending, crashed} {
		if m := Metrics(p, time.Unix(100, 0)); m != nil {
			t.Errorf("%s: %v", p.Status.Phase, m)
		}
	}
}

// measuredPod runs since 90 s.
func measuredPod(annotation string) *corev1.Pod {
	always := corev1.ContainerRestartPolicyAlways
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationUsage: annotation}}}
	p.Spec.Containers = []corev1.Container{{Name: "web"}, {Name: "bare"}}
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("100Mi")}
	p.Spec.InitContainers = []corev1.Container{{Name: "side", RestartPolicy: &always}, {Name: "setup"}}
	p.Spec.InitContainers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
	begin(p, []string{hostIP}, metav1.Unix(90, 0))
	Options{}.sync(p, metav1.Unix(90, 0))
	return p
}
