package resources

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// optional returns the entries of a resource's optional versions. Together, the fields Optional have the
// optional versions of v1.37, with these exceptions: v1beta1 of PodCertificateRequest, which has fields that v1 lacks;
// v1alpha3 of DeviceTaintRule; and versions of resources that this server does not have: LeaseCandidate,
// ResourcePoolStatusRequest, Workload, PodGroup and StorageVersion. Most of these resources also need a feature gate.
// Versions that v1.37 no longer serves are missing, too (API zz_generated.prerelease-lifecycle.go).
func optional(by *Resource) (out []*Resource) {
	for _, v := range by.Optional {
		out = append(out, versionOf(by, v))
	}
	return out
}

// versionOf returns the entry of an optional version. It is derived from the entry that is served by default.
func versionOf(by *Resource, v entry.Version) *Resource {
	r := *by
	r.Version, r.Optional = v.GroupVersion.Version, nil
	r.ToStored, r.FromStored = v.ToStored, v.FromStored
	if v.FieldError != "" {
		r.FieldError = v.FieldError
	}
	gvk := r.GroupVersionKind()
	r.New = func() runtime.Object { return entry.Typed(v.New(), gvk) }
	r.Deprecated = entry.Deprecation(r.New())
	r.Off = true
	if v.Change != nil {
		v.Change(&r)
	}
	if h := (hub{to: v.ToStored, from: v.FromStored}); h.to != nil {
		r.Strategy.Default = h.change(r.Strategy.Default)
		adapt(&r, h)
	}
	return &r
}

// NotByDefault returns the group versions that are served only if --runtime-config enables them, sorted.
func NotByDefault() (out []string) {
	for _, r := range Declared(time.Now, nil) {
		if r.Off {
			out = append(out, r.GroupVersion().String())
		}
		for _, v := range r.Optional {
			out = append(out, v.GroupVersion.String())
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}
