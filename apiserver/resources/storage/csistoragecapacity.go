package storage

import (
	"fmt"
	"maps"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func csiStorageCapacities() *entry.Resource {
	return &entry.Resource{
		Plural: "csistoragecapacities", New: entry.New[storagev1.CSIStorageCapacity], Namespaced: true,
		Strategy: entry.Strategy{
			Conditional: true,
			Validate:    entry.ValidateChange(validateStorageCapacity),
			Warnings:    entry.Warn(capacityWarnings),
		},
	}
}

func capacityWarnings(c, _ *storagev1.CSIStorageCapacity) []string {
	s, at := c.NodeTopology, field.NewPath("nodeTopology")
	if s == nil {
		return nil
	}
	var texts []string
	for i, e := range s.MatchExpressions {
		if why, ok := check.DeprecatedLabels[e.Key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s is %s", at.Child("matchExpressions").Index(i).Child("key"), e.Key, why))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		if why, ok := check.DeprecatedLabels[key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s", at.Child("matchLabels").Child(key), why))
		}
	}
	return texts
}

func validateStorageCapacity(c, old *storagev1.CSIStorageCapacity) field.ErrorList {
	topology, class := field.NewPath("nodeTopology"), field.NewPath("storageClassName")
	created := old == nil
	if created {
		old = &storagev1.CSIStorageCapacity{}
	}
	errs := check.LabelSelector(c.NodeTopology, old.NodeTopology, topology)
	errs = append(errs, check.DNSSubdomain(c.StorageClassName, class)...)
	errs = append(errs, check.Given(c.Capacity, field.NewPath("capacity"), check.NonNegativeQuantity)...)
	if created {
		return errs
	}
	errs = append(errs, check.Immutable(c.NodeTopology, old.NodeTopology, topology)...)
	return append(errs, check.Immutable(c.StorageClassName, old.StorageClassName, class)...)
}
