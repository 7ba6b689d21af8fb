package warnings

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Value is the target of p, or the zero value.
func Value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// OfLabels are deprecated node labels with their warnings (pkg/api/node/util.go).
var OfLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  "deprecated since v1.9",
	"scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

// OfTerm are the warnings for labels in a term, and for invalid values that validation accepts.
func OfTerm(at *field.Path, t *corev1.NodeSelectorTerm, values bool) []string {
	var texts []string
	for i, e := range t.MatchExpressions {
		path := at.Child("matchExpressions").Index(i)
		if why, ok := OfLabels[e.Key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s is %s", path.Child("key"), e.Key, why))
		}
		if !values {
			continue
		}
		for j, v := range e.Values {
			for _, msg := range validation.IsValidLabelValue(v) {
				texts = append(texts, fmt.Sprintf("%s: %s is invalid, %s", path.Child("values").Index(j), v, msg))
			}
		}
	}
	return texts
}

// OfClaimSpec warns of settings in a claim's spec that have no effect.
func OfClaimSpec(at *field.Path, s *corev1.PersistentVolumeClaimSpec) []string {
	texts := OfFractions(at.Child("resources", "requests"), s.Resources.Requests, corev1.ResourceStorage)
	return append(texts, OfFractions(at.Child("resources", "limits"), s.Resources.Limits, corev1.ResourceStorage)...)
}
