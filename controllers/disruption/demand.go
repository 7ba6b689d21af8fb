package disruption

import (
	"cmp"
	"fmt"
	"slices"

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

// demandOf calculates the demand of a budget. unknown has the controllers whose scale is needed, but not known yet
// (getExpectedPodCount).
func demandOf(v workload.View, b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) (
	d demand, unknown []workload.Owner, err error) {
	most, least := b.Spec.MaxUnavailable, b.Spec.MinAvailable
	switch {
	case most == nil && least == nil:
		return d, nil, nil
	case most == nil && least.Type == intstr.Int:
		return demand{expected: int32(len(pods)), desired: least.IntVal}, nil, nil
	}
	if d, unknown, err = scaled(v, pods); err != nil || len(unknown) > 0 {
		return d, unknown, err
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(cmp.Or(most, least), int(d.expected), true)
	if d.desired = int32(n); most != nil {
		d.desired = max(0, d.expected-int32(n))
	}
	return d, nil, err
}

// scaled adds up the scales of the pods' controllers (getExpectedScale).
func scaled(v workload.View, pods []*corev1.Pod) (d demand, unknown []workload.Owner, err error) {
	scales := map[types.UID]int32{}
	for _, p := range pods {
		ref := metav1.GetControllerOfNoCopy(p)
		if ref == nil {
			d.unmanaged = true
			continue
		}
		if _, known := scales[ref.UID]; known {
			continue
		}
		owner := workload.OwnerOf(ref)
		s, known, err := scaleOf(v, p.Namespace, owner)
		switch {
		case !known:
			if !slices.Contains(unknown, owner) {
				unknown = append(unknown, owner)
			}
		case err != nil:
			return d, nil, err
		case s.UID == "":
			return d, nil, fmt.Errorf("found no controllers for pod %q", p.Name)
		default:
			scales[s.UID] = s.Replicas
		}
	}
	for _, n := range scales {
		d.expected += n
	}
	return d, unknown, nil
}
