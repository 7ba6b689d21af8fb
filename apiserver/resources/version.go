package resources

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	networkingv1 "k8s.io/api/networking/v1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	storagev1 "k8s.io/api/storage/v1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// another is a version of a resource that kube-apiserver v1.36 serves only if --runtime-config asks for it. What
// it isn't told here it has from the entry that is served by default, whose hooks see what is stored.
type another struct {
	// of is the group version that is served by default.
	of     schema.GroupVersion
	plural string
	gv     schema.GroupVersion
	make   func() runtime.Object
	// toStored and fromStored are those of the Resource.
	toStored, fromStored func(runtime.Object) (runtime.Object, error)
	// fieldError is that of the Resource; the texts name the version.
	fieldError string
}

// others are those of the resources that are here, but for the versions that v1.36 doesn't serve any more (API
// zz_generated.prerelease-lifecycle.go). Further ones are of resources that aren't here: LeaseCandidate,
// ClusterTrustBundle, PodCertificateRequest, DeviceTaintRule, ResourcePoolStatusRequest, Workload, PodGroup,
// StorageVersion and StorageVersionMigration, most of which wait for a feature gate as well.
var others = []another{
	{of: admissionv1.SchemeGroupVersion, plural: "mutatingadmissionpolicies", gv: admissionv1beta1.SchemeGroupVersion,
		make: of[admissionv1beta1.MutatingAdmissionPolicy]},
	{of: admissionv1.SchemeGroupVersion, plural: "mutatingadmissionpolicybindings", gv: admissionv1beta1.SchemeGroupVersion,
		make: of[admissionv1beta1.MutatingAdmissionPolicyBinding]},
	{of: admissionv1.SchemeGroupVersion, plural: "mutatingadmissionpolicies", gv: admissionv1alpha1.SchemeGroupVersion,
		make:       of[admissionv1alpha1.MutatingAdmissionPolicy],
		toStored:   recast[admissionv1beta1.MutatingAdmissionPolicy],
		fromStored: recast[admissionv1alpha1.MutatingAdmissionPolicy]},
	{of: admissionv1.SchemeGroupVersion, plural: "mutatingadmissionpolicybindings", gv: admissionv1alpha1.SchemeGroupVersion,
		make:       of[admissionv1alpha1.MutatingAdmissionPolicyBinding],
		toStored:   recast[admissionv1beta1.MutatingAdmissionPolicyBinding],
		fromStored: recast[admissionv1alpha1.MutatingAdmissionPolicyBinding]},

	{of: networkingv1.SchemeGroupVersion, plural: "ipaddresses", gv: networkingv1beta1.SchemeGroupVersion,
		make:       of[networkingv1beta1.IPAddress],
		toStored:   recast[networkingv1.IPAddress],
		fromStored: recast[networkingv1beta1.IPAddress]},
	{of: networkingv1.SchemeGroupVersion, plural: "servicecidrs", gv: networkingv1beta1.SchemeGroupVersion,
		make:       of[networkingv1beta1.ServiceCIDR],
		toStored:   recast[networkingv1.ServiceCIDR],
		fromStored: recast[networkingv1beta1.ServiceCIDR]},

	{of: storagev1.SchemeGroupVersion, plural: "volumeattributesclasses", gv: storagev1beta1.SchemeGroupVersion,
		make:       of[storagev1beta1.VolumeAttributesClass],
		toStored:   recast[storagev1.VolumeAttributesClass],
		fromStored: recast[storagev1beta1.VolumeAttributesClass]},

	{of: resourcev1.SchemeGroupVersion, plural: "deviceclasses", gv: resourcev1beta2.SchemeGroupVersion,
		make:       of[resourcev1beta2.DeviceClass],
		toStored:   recast[resourcev1.DeviceClass],
		fromStored: recast[resourcev1beta2.DeviceClass]},
	{of: resourcev1.SchemeGroupVersion, plural: "resourceclaims", gv: resourcev1beta2.SchemeGroupVersion,
		make:       of[resourcev1beta2.ResourceClaim],
		toStored:   recast[resourcev1.ResourceClaim],
		fromStored: recast[resourcev1beta2.ResourceClaim]},
	{of: resourcev1.SchemeGroupVersion, plural: "resourceclaimtemplates", gv: resourcev1beta2.SchemeGroupVersion,
		make:       of[resourcev1beta2.ResourceClaimTemplate],
		toStored:   recast[resourcev1.ResourceClaimTemplate],
		fromStored: recast[resourcev1beta2.ResourceClaimTemplate]},
	{of: resourcev1.SchemeGroupVersion, plural: "resourceslices", gv: resourcev1beta2.SchemeGroupVersion,
		make:       of[resourcev1beta2.ResourceSlice],
		toStored:   recast[resourcev1.ResourceSlice],
		fromStored: recast[resourcev1beta2.ResourceSlice],
		fieldError: "field label not supported for resource.k8s.io/v1beta2, Kind=ResourceSlice: %s"},
	{of: resourcev1.SchemeGroupVersion, plural: "deviceclasses", gv: resourcev1beta1.SchemeGroupVersion,
		make:       of[resourcev1beta1.DeviceClass],
		toStored:   recast[resourcev1.DeviceClass],
		fromStored: recast[resourcev1beta1.DeviceClass]},
	{of: resourcev1.SchemeGroupVersion, plural: "resourceclaims", gv: resourcev1beta1.SchemeGroupVersion,
		make:       of[resourcev1beta1.ResourceClaim],
		toStored:   claimToV1,
		fromStored: claimToV1beta1},
	{of: resourcev1.SchemeGroupVersion, plural: "resourceclaimtemplates", gv: resourcev1beta1.SchemeGroupVersion,
		make:       of[resourcev1beta1.ResourceClaimTemplate],
		toStored:   templateToV1,
		fromStored: templateToV1beta1},
	{of: resourcev1.SchemeGroupVersion, plural: "resourceslices", gv: resourcev1beta1.SchemeGroupVersion,
		make:       of[resourcev1beta1.ResourceSlice],
		toStored:   sliceToV1,
		fromStored: sliceToV1beta1,
		fieldError: "field label not supported for resource.k8s.io/v1beta1, Kind=ResourceSlice: %s"},
}

// version makes the entry from the one that is served by default.
func (a another) version(by *Resource) *Resource {
	r := *by
	r.Version = a.gv.Version
	r.ToStored, r.FromStored = a.toStored, a.fromStored
	if a.fieldError != "" {
		r.FieldError = a.fieldError
	}
	gvk := r.GroupVersionKind()
	r.Deprecated = deprecation(a.make(), gvk)
	r.New = func() runtime.Object { return typed(a.make(), gvk) }
	r.Off = true
	if h := (hub{to: a.toStored, from: a.fromStored}); h.to != nil {
		r.adapt(h)
	}
	return &r
}

// adapt has hooks that take the stored version take this one, too: all that the kinds of others have.
func (r *Resource) adapt(h hub) {
	st := &r.Strategy
	st.Default, st.PrepareCreate, st.PrepareUpdate = h.change(st.Default), h.change(st.PrepareCreate), h.update(st.PrepareUpdate)
	st.Validate, st.ValidateUpdate, st.Warnings = h.judge(st.Validate), h.compare(st.ValidateUpdate), h.warn(st.Warnings)
	r.Subresources = slices.Clone(r.Subresources)
	for i := range r.Subresources {
		sub := &r.Subresources[i]
		sub.PrepareUpdate, sub.ValidateUpdate, sub.Warnings = h.update(sub.PrepareUpdate), h.compare(sub.ValidateUpdate), h.warn(sub.Warnings)
	}
	r.Table = r.Table.seen(h.see)
}

// more returns the entries of others.
func more(all []*Resource) (out []*Resource) {
	byPath := map[schema.GroupVersionResource]*Resource{}
	for _, r := range all {
		byPath[r.path()] = r
	}
	for _, a := range others {
		out = append(out, a.version(byPath[a.of.WithResource(a.plural)]))
	}
	return out
}

// NotByDefault are the group versions that are only served when asked for, in order.
func NotByDefault() (out []string) {
	for _, a := range others {
		out = append(out, a.gv.String())
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}
