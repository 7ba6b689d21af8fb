package core

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// TestTimeDoesNotGrowWithTheSquare: long valid lists are validated in much less than a second. If each item were
// compared with all others, this would take minutes.
func TestTimeDoesNotGrowWithTheSquare(t *testing.T) {
	const n = 60_000
	name := func(i int) string { return fmt.Sprint("a", i) }
	other := func(i int) string { return map[bool]string{true: "a", false: "b"}[i%2 == 0] + fmt.Sprint(i) }
	address := func(i int) string { return fmt.Sprintf("10.%d.%d.%d", 1+i>>16, i>>8&255, i&255) }
	pods := func(change func(p *corev1.Pod, name func(i int) string)) (p, old *corev1.Pod) {
		p, old = &corev1.Pod{}, &corev1.Pod{}
		change(p, other)
		change(old, name)
		return p, old
	}
	objecttest.Quick(t, map[string]func() field.ErrorList{
		"tolerations that stay": func() field.ErrorList {
			p, _ := pods(func(p *corev1.Pod, _ func(i int) string) {
				p.Spec.Tolerations = objecttest.ListOf(n, func(i int) corev1.Toleration {
					return corev1.Toleration{Key: name(i), Operator: corev1.TolerationOpExists}
				})
			})
			return tolerationsUpdate(p.Spec.Tolerations, p.Spec.Tolerations, check.SpecPath)
		},
		"half of the secrets changed": func() field.ErrorList {
			return validatePodUpdate(pods(func(p *corev1.Pod, name func(i int) string) {
				p.Spec.ImagePullSecrets = objecttest.ListOf(n, func(i int) corev1.LocalObjectReference {
					return corev1.LocalObjectReference{Name: name(i)}
				})
			}))
		},
		"addresses of a pod": func() field.ErrorList {
			s := &corev1.PodStatus{PodIPs: objecttest.ListOf(n, func(i int) corev1.PodIP {
				return corev1.PodIP{IP: address(i)}
			})}
			return podIPs(s, s)
		},
		"statuses of containers": func() field.ErrorList {
			containers := objecttest.ListOf(n/10, func(i int) corev1.Container { return corev1.Container{Name: name(i)} })
			return healths(objecttest.ListOf(n, func(i int) corev1.ContainerStatus {
				return corev1.ContainerStatus{Name: name(i + n)}
			}), containers, check.SpecPath)
		},
		"scopes of a quota": func() field.ErrorList {
			s := &corev1.ResourceQuotaSpec{
				Hard:   corev1.ResourceList{},
				Scopes: objecttest.ListOf(n/10, func(int) corev1.ResourceQuotaScope { return corev1.ResourceQuotaScopeBestEffort }),
			}
			for i := range n / 10 {
				s.Hard[corev1.ResourceName("example.com/"+name(i))] = resource.MustParse("1")
			}
			return quotaSpec(s, check.SpecPath)
		},
		"networks of a node": func() field.ErrorList {
			return podCIDRs(objecttest.ListOf(n, func(i int) string { return address(i) + "/32" }), check.SpecPath)
		},
	})
}
