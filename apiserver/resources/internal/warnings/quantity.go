package warnings

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// OfFractions warns of fractional quantities of these resources.
func OfFractions(at *field.Path, list corev1.ResourceList, names ...corev1.ResourceName) []string {
	var texts []string
	for _, name := range names {
		if q, ok := list[name]; ok && q.MilliValue()%1000 != 0 {
			texts = append(
				texts, fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", at.Key(string(name)), q.String()),
			)
		}
	}
	return texts
}
