package printing

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ContainersOf returns the names and the images of a pod's containers, in their order.
func ContainersOf(s *corev1.PodSpec) (names, images string) {
	var n, i []string
	for _, c := range s.Containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}
