package podspec

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// TestWarningsOfManyFilesAndPortsAreLimited validates pods with 100,000 files or ports. A comparison of all pairs would
// take hours and all memory.
func TestWarningsOfManyFilesAndPortsAreLimited(t *testing.T) {
	const n = 100_000
	items := func(path func(i int) string) []corev1.Volume {
		keys := make([]corev1.KeyToPath, n)
		for i := range keys {
			keys[i].Path = path(i)
		}
		return []corev1.Volume{
			{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{Items: keys}}},
		}
	}
	ports := func(port func(i int) corev1.ContainerPort) []corev1.Container {
		list := make([]corev1.ContainerPort, n)
		for i := range list {
			list[i] = port(i)
		}
		return []corev1.Container{{Name: "c", Ports: list}}
	}
	for name, spec := range map[string]*corev1.PodSpec{
		"same path":      {Volumes: items(func(int) string { return "a" })},
		"other paths":    {Volumes: items(func(i int) string { return fmt.Sprint(i) })},
		"one directory":  {Volumes: items(func(i int) string { return []string{"a", fmt.Sprint("a/", i)}[min(i, 1)] })},
		"directory last": {Volumes: items(func(i int) string { return []string{fmt.Sprint("a/", i), "a"}[i/(n-1)] })},
		"two in turn":    {Volumes: items(func(i int) string { return []string{"a", fmt.Sprint(i)}[i%2] })},
		"same port": {Containers: ports(func(int) corev1.ContainerPort {
			return corev1.ContainerPort{ContainerPort: 1}
		})},
		"hosts' ports": {Containers: ports(func(i int) corev1.ContainerPort {
			return corev1.ContainerPort{ContainerPort: 1, HostPort: int32(i + 1)}
		})},
		"hosts' IPs": {Containers: ports(func(i int) corev1.ContainerPort {
			return corev1.ContainerPort{ContainerPort: 1, HostPort: 1, HostIP: fmt.Sprint(i)}
		})},
		"IPs of no ports": {Containers: ports(func(i int) corev1.ContainerPort {
			return corev1.ContainerPort{ContainerPort: int32(i), HostIP: "1.1.1.1"}
		})},
	} {
		if got := len(SpecWarnings(nil, spec, &metav1.ObjectMeta{})); got > 2*invalid.MaxWarningRunes {
			t.Errorf("%s: %d warnings", name, got)
		}
	}
}
