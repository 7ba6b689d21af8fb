package podspec

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// TestPodSpecsAreValidatedInLinearTime: long valid lists are validated in much less than a second. If each item were
// compared with all others, this would take minutes.
func TestPodSpecsAreValidatedInLinearTime(t *testing.T) {
	const n = 60_000
	name := func(i int) string { return fmt.Sprint("a", i) }
	objecttest.Quick(t, map[string]func() field.ErrorList{
		"topology spread": func() field.ErrorList {
			r := NewRules(&corev1.PodSpec{}, Legacy{})
			return r.spread(objecttest.ListOf(n, func(i int) corev1.TopologySpreadConstraint {
				return corev1.TopologySpreadConstraint{TopologyKey: name(i), MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule}
			}), check.SpecPath)
		},
		"unknown claims": func() field.ErrorList {
			r := NewRules(&corev1.PodSpec{ResourceClaims: objecttest.ListOf(n, func(i int) corev1.PodResourceClaim {
				return corev1.PodResourceClaim{Name: name(i)}
			})}, Legacy{})
			return r.claimRefs(objecttest.ListOf(n, func(i int) corev1.ResourceClaim {
				return corev1.ResourceClaim{Name: name(i + n)}
			}), check.SpecPath)
		},
		"capabilities": func() field.ErrorList {
			c := &corev1.SecurityContext{Capabilities: &corev1.Capabilities{
				Add: objecttest.ListOf(n, func(int) corev1.Capability { return "CAP_SYS_ADMIN" }),
			}}
			return escalation(c, check.SpecPath)
		},
	})
}
