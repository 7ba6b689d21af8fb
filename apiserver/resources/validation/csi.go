package validation

import (
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

const maxNodeID = 256

var (
	fsGroupPolicies = []storagev1.FSGroupPolicy{storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy}
	lifecycleModes  = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral}
)

func csiDriverObject(d *storagev1.CSIDriver) (errs field.ErrorList) {
	at, s := field.NewPath("spec"), &d.Spec
	for _, flag := range []struct {
		name  string
		value *bool
	}{{"attachedRequired", s.AttachRequired}, {"podInfoOnMount", s.PodInfoOnMount}, {"storageCapacity", s.StorageCapacity}} {
		if flag.value == nil {
			errs = append(errs, field.Required(at.Child(flag.name), ""))
		}
	}
	if s.FSGroupPolicy != nil {
		errs = append(errs, oneOf(*s.FSGroupPolicy, at.Child("fsGroupPolicy"), fsGroupPolicies)...)
	}
	errs = append(errs, tokenRequests(s.TokenRequests, at.Child("tokenRequests"))...)
	for _, mode := range invalid.Each(s.VolumeLifecycleModes, &errs) {
		errs = append(errs, oneOf(mode, at.Child("volumeLifecycleModes"), lifecycleModes)...)
	}
	if s.SELinuxMount == nil {
		errs = append(errs, field.Required(at.Child("seLinuxMount"), ""))
	}
	if p := s.NodeAllocatableUpdatePeriodSeconds; p != nil && *p < 10 {
		errs = append(errs, field.Invalid(at.Child("nodeAllocatableUpdatePeriodSeconds"), *p, "must be greater than or equal to 10 seconds"))
	}
	return errs
}

// tokenRequests wants each audience once, and tokens that live ten minutes or more.
func tokenRequests(list []storagev1.TokenRequest, at *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, r := range invalid.Each(list, &errs) {
		at := at.Index(i)
		if seen[r.Audience] {
			errs = append(errs, field.Duplicate(at.Child("audience"), r.Audience))
			continue
		}
		seen[r.Audience] = true
		if r.ExpirationSeconds == nil {
			continue
		}
		if *r.ExpirationSeconds < 600 {
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *r.ExpirationSeconds, "may not specify a duration less than 10 minutes"))
		}
		if *r.ExpirationSeconds > 1<<32 {
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *r.ExpirationSeconds, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	return errs
}

func csiDriverUpdate(d, old *storagev1.CSIDriver) field.ErrorList {
	at := field.NewPath("spec")
	errs := csiDriverObject(d)
	errs = append(errs, immutable(d.Spec.AttachRequired, old.Spec.AttachRequired, at.Child("attachedRequired"))...)
	return append(errs, immutable(d.Spec.VolumeLifecycleModes, old.Spec.VolumeLifecycleModes, at.Child("volumeLifecycleModes"))...)
}

func csiNode(n *storagev1.CSINode) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i := range invalid.Each(n.Spec.Drivers, &errs) {
		d, at := &n.Spec.Drivers[i], field.NewPath("spec", "drivers").Index(i)
		errs = append(errs, csiDriver(d.Name, at.Child("name"))...)
		if d.NodeID == "" {
			errs = append(errs, field.Required(at.Child("nodeID"), ""))
		}
		if len(d.NodeID) > maxNodeID {
			errs = append(errs, field.Invalid(at.Child("nodeID"), d.NodeID, fmt.Sprintf("must be %d characters or less", maxNodeID)))
		}
		if a := d.Allocatable; a != nil && a.Count != nil {
			errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*a.Count), at.Child("allocatable", "count"))...)
		}
		if seen[d.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), d.Name))
		}
		seen[d.Name] = true
		errs = append(errs, topologyKeys(d.TopologyKeys, at)...)
	}
	return errs
}

func topologyKeys(keys []string, at *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for _, key := range invalid.Each(keys, &errs) {
		if key == "" {
			errs = append(errs, field.Required(at, ""))
		}
		if seen[key] {
			errs = append(errs, field.Duplicate(at, key))
		}
		seen[key] = true
		errs = append(errs, qualified(key, at)...)
	}
	return errs
}

// csiNodeUpdate lets drivers come and go but, of one that stays, only how much it can allocate change.
func csiNodeUpdate(n, old *storagev1.CSINode) field.ErrorList {
	errs := twice(csiNode(n))
	named := map[string][]int{}
	for i := range n.Spec.Drivers {
		named[n.Spec.Drivers[i].Name] = append(named[n.Spec.Drivers[i].Name], i)
	}
	for _, was := range invalid.Each(old.Spec.Drivers, &errs) {
		for _, i := range invalid.Each(named[was.Name], &errs) {
			now := n.Spec.Drivers[i]
			now.Allocatable, was.Allocatable = nil, nil
			errs = append(errs, immutable(now, was, field.NewPath("spec", "drivers"))...)
		}
	}
	return errs
}
