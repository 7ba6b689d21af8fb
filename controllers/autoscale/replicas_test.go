package autoscale

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestRequestsOfPodPrecedeThoseOfContainers: a metric for one container reads the requests of this container.
func TestRequestsOfPodPrecedeThoseOfContainers(t *testing.T) {
	cpu := func(q string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(q)}
	}
	memory := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	pod := func(own corev1.ResourceList, containers ...corev1.ResourceList) *corev1.Pod {
		p := &corev1.Pod{}
		p.Name = "p"
		if own != nil {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: own}
		}
		for i, r := range containers {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
				Name: string(rune('a' + i)), Resources: corev1.ResourceRequirements{Requests: r},
			})
		}
		return p
	}
	for _, c := range []struct {
		pod       *corev1.Pod
		container string
		want      int64
		err       string
	}{
		{pod: pod(nil, cpu("1"), cpu("2")), want: 3000},
		{pod: pod(nil, cpu("1"), nil), err: "missing request for cpu in container b of Pod p"},
		{pod: pod(cpu("5"), cpu("1"), nil), want: 5000},
		{pod: pod(memory, cpu("1"), cpu("2")), want: 3000},
		{pod: pod(memory, nil), err: "missing pod-level request for cpu in Pod p"},
		{pod: pod(cpu("5"), cpu("1")), container: "a", want: 1000},
		{pod: pod(cpu("5"), cpu("1")), container: "z", err: "container z not found in Pod p"},
	} {
		d := &decision{input: input{pods: []*corev1.Pod{c.pod}}}
		got, err := d.requests(corev1.ResourceCPU, c.container)
		if err == nil && (c.err != "" || got["p"] != c.want) || err != nil && err.Error() != c.err {
			t.Errorf("%v, %q: %v, %v, want %d, %s", c.pod.Spec, c.container, got, err, c.want, c.err)
		}
	}
}
