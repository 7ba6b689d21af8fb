package storage

import (
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func csiNodes() *entry.Resource {
	return &entry.Resource{
		Plural: "csinodes", New: entry.New[storagev1.CSINode],
		Strategy: entry.Strategy{
			Conditional: true,
			Default:     entry.DefaultEmptyLists[storagev1.CSINode](),
			Prepare:     entry.Change(dropHealth),
			Validate:    entry.ValidateEither(validateCSINode, validateCSINodeUpdate),
		},
		Delete: entry.Deletion{Returned: true},
		Table: entry.Listed(
			[]entry.Column{entry.Integer("Drivers", "Drivers indicates the number of CSI drivers registered on the node")},
			func(n *storagev1.CSINode) []any { return []any{int64(len(n.Spec.Drivers))} }),
	}
}

// dropHealth removes the field of CSIVolumeHealth, which is off (V-012, V-023).
var dropHealth = check.Gate[storagev1.CSINode](check.FieldsOf[storagev1.CSINodeStatus]("StorageHealth"))

const maxNodeID = 256

func validateCSINode(n *storagev1.CSINode) (errs field.ErrorList) {
	seen := check.Unique[string]{}
	for i := range n.Spec.Drivers {
		d, at := &n.Spec.Drivers[i], field.NewPath("spec", "drivers").Index(i)
		errs = append(errs, podspec.CSIDriver(d.Name, at.Child("name"))...)
		errs = append(errs, check.Present(d.NodeID != "", at.Child("nodeID"), "")...)
		errs = append(errs, check.Reject(len(d.NodeID) > maxNodeID, at.Child("nodeID"), d.NodeID,
			fmt.Sprintf("must be %d characters or less", maxNodeID))...)
		errs = append(errs, check.Naturals(at.Child("allocatable"), "count", check.ValueOf(d.Allocatable).Count)...)
		errs = append(errs, seen.Add(d.Name, at.Child("name"))...)
		errs = append(errs, topologyKeys(d.TopologyKeys, at)...)
	}
	return errs
}

func topologyKeys(keys []string, at *field.Path) (errs field.ErrorList) {
	seen := check.Unique[string]{}
	for _, key := range keys {
		errs = append(errs, check.Present(key != "", at, "")...)
		errs = append(errs, seen.Add(key, at)...)
		errs = append(errs, check.QualifiedName(key, at)...)
	}
	return errs
}

// validateCSINodeUpdate allows drivers to be added and removed. Only the allocatable volumes of an existing driver may
// change.
func validateCSINodeUpdate(n, old *storagev1.CSINode) field.ErrorList {
	errs := check.Twice(validateCSINode(n))
	named := map[string][]int{}
	for i := range n.Spec.Drivers {
		named[n.Spec.Drivers[i].Name] = append(named[n.Spec.Drivers[i].Name], i)
	}
	for _, was := range old.Spec.Drivers {
		for _, i := range named[was.Name] {
			now := n.Spec.Drivers[i]
			now.Allocatable, was.Allocatable = nil, nil
			errs = append(errs, check.Immutable(now, was, field.NewPath("spec", "drivers"))...)
		}
	}
	return errs
}
