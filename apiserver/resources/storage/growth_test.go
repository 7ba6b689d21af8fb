package storage

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// TestLongListsOfStorageAreValidatedInLinearTime: long valid lists are validated in much less than a second. If each
// item were compared with all others, this would take minutes.
func TestLongListsOfStorageAreValidatedInLinearTime(t *testing.T) {
	const n = 60_000
	name := func(i int) string { return fmt.Sprint("a", i) }
	objecttest.Quick(t, map[string]func() field.ErrorList{
		"drivers of a node": func() field.ErrorList {
			node := &storagev1.CSINode{}
			node.Spec.Drivers = objecttest.ListOf(n, func(i int) storagev1.CSINodeDriver {
				return storagev1.CSINodeDriver{Name: name(i), NodeID: "a"}
			})
			return validateCSINodeUpdate(node, node)
		},
		"topologies of a class": func() field.ErrorList {
			return topologies(objecttest.ListOf(n/10, func(i int) corev1.TopologySelectorTerm {
				return corev1.TopologySelectorTerm{
					MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: name(i), Values: []string{"a"}}},
				}
			}), check.SpecPath)
		},
	})
}
