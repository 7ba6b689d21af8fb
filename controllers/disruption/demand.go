package disruption

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// demand holds the expected number of pods of a budget, and the number of them that must be healthy (desired).
type demand struct {
	expected, desired int32
	// unmanaged reports whether some of the pods have no controller, and are not in expected.
	unmanaged bool
}

// counted reports whether the demand of a budget does not depend on the scales of controllers.
func counted(b *policyv1.PodDisruptionBudget) bool {
	return b.Spec.MaxUnavailable == nil && (b.Spec.MinAvailable == nil || b.Spec.MinAvailable.Type == intstr.Int)
}

// demandOf calculates the demand of a budget (getExpectedPodCount).
func demandOf(
	b *policyv1.PodDisruptionBudget, pods []*corev1.Pod, scales map[workload.Owner]scale,
) (d demand, err error) {
	most, least := b.Spec.MaxUnavailable, b.Spec.MinAvailable
	switch {
	case most == nil && least == nil:
		return d, nil
	case counted(b):
		return demand{expected: int32(len(pods)), desired: least.IntVal}, nil
	}
	if d, err = scaled(pods, scales); err != nil {
		return d, err
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(cmp.Or(most, least), int(d.expected), true)
	if d.desired = int32(n); most != nil {
		d.desired = max(0, d.expected-int32(n))
	}
	return d, err
}

// scaled adds up the scales of the pods' controllers (getExpectedScale).
func scaled(pods []*corev1.Pod, scales map[workload.Owner]scale) (d demand, err error) {
	replicas := map[types.UID]int32{}
	for _, p := range pods {
		ref := metav1.GetControllerOfNoCopy(p)
		if ref == nil {
			d.unmanaged = true
			continue
		}
		switch s := scales[workload.OwnerOf(ref)]; {
		case s.err != nil:
			return d, s.err
		case s.UID == "":
			return d, fmt.Errorf("found no controllers for pod %q", p.Name)
		default:
			replicas[s.UID] = s.Replicas
		}
	}
	for _, n := range replicas {
		d.expected += n
	}
	return d, nil
}
