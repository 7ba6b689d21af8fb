package usage

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// kind measures the objects of a resource. All functions are set.
type kind struct {
	// tracks reports whether objects count for the name.
	tracks func(corev1.ResourceName) bool
	// usage returns the quantities that an object counts for.
	usage func(obj runtime.Object, now time.Time) corev1.ResourceList
	// inScope reports whether an object is within one scope of a quota.
	inScope func(corev1.ScopedResourceSelectorRequirement, runtime.Object) bool
	// missing returns an error if an object lacks a value that it must specify when those names are limited.
	missing func([]corev1.ResourceName, runtime.Object) error
	// measured reports whether objects count for more than their number.
	measured bool
}

var (
	pods     = schema.GroupResource{Resource: "pods"}
	services = schema.GroupResource{Resource: "services"}
	claims   = schema.GroupResource{Resource: "persistentvolumeclaims"}
	devices  = schema.GroupResource{Group: resourcev1.GroupName, Resource: "resourceclaims"}
)

// aliases are old names for the numbers of objects.
var aliases = map[schema.GroupResource]corev1.ResourceName{
	{Resource: "configmaps"}:             corev1.ResourceConfigMaps,
	{Resource: "replicationcontrollers"}: corev1.ResourceReplicationControllers,
	{Resource: "resourcequotas"}:         corev1.ResourceQuotas,
	{Resource: "secrets"}:                corev1.ResourceSecrets,
}

// Ignored reports whether quotas ignore the resource (K pkg/quota/v1/install).
func Ignored(r schema.GroupResource) bool {
	return r.Resource == "events" && (r.Group == "" || r.Group == "events.k8s.io") ||
		r.Group == "" && (r.Resource == "bindings" || r.Resource == "componentstatuses") ||
		r.Group == "authentication.k8s.io" || r.Group == "authorization.k8s.io"
}

// Measured reports whether objects of the resource count for more than their number, so that an update may change their
// usage.
func Measured(r schema.GroupResource) bool { return kindOf(r).measured }

const countPrefix = "count/"

// countName returns the name for the number of objects: count/pods, count/jobs.batch.
func countName(r schema.GroupResource) corev1.ResourceName {
	return corev1.ResourceName(countPrefix + r.String())
}

// Counted returns the resources that count for at least one of the names, sorted.
func Counted(named []corev1.ResourceName) []schema.GroupResource {
	var out []schema.GroupResource
	find := func(r schema.GroupResource) {
		if !Ignored(r) && !slices.Contains(out, r) && slices.ContainsFunc(named, kindOf(r).tracks) {
			out = append(out, r)
		}
	}
	for _, r := range []schema.GroupResource{pods, services, claims, devices} {
		find(r)
	}
	for r := range aliases {
		find(r)
	}
	for _, name := range named {
		if r, ok := strings.CutPrefix(string(name), countPrefix); ok {
			find(schema.ParseGroupResource(r))
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupResource) int { return strings.Compare(a.String(), b.String()) })
	return out
}

func kindOf(r schema.GroupResource) kind {
	switch r {
	case pods:
		return kind{tracks: podTracks, usage: podUsage, inScope: podInScope, missing: podMissing, measured: true}
	case services:
		return kind{tracks: serviceTracks, usage: serviceUsage, inScope: noScope, missing: nothing, measured: true}
	case claims:
		return kind{tracks: claimTracks, usage: claimUsage, inScope: claimInScope, missing: nothing, measured: true}
	case devices:
		return kind{tracks: deviceTracks, usage: deviceUsage, inScope: noScope, missing: nothing, measured: true}
	}
	one := corev1.ResourceList{countName(r): number(1)}
	if alias, ok := aliases[r]; ok {
		one[alias] = number(1)
	}
	return kind{
		tracks:  func(name corev1.ResourceName) bool { _, ok := one[name]; return ok },
		usage:   func(runtime.Object, time.Time) corev1.ResourceList { return one },
		inScope: noScope, missing: nothing,
	}
}

func noScope(corev1.ScopedResourceSelectorRequirement, runtime.Object) bool { return false }

func nothing([]corev1.ResourceName, runtime.Object) error { return nil }

// of returns the names that objects of the kind count for, in the order of named.
func (k kind) of(named []corev1.ResourceName) (out []corev1.ResourceName) {
	for _, name := range named {
		if k.tracks(name) {
			out = append(out, name)
		}
	}
	return out
}

// within reports whether an object is within all scopes of a quota.
func (k kind) within(q *corev1.ResourceQuotaSpec, obj runtime.Object) bool {
	scopes := slices.Clone(ptr.Deref(q.ScopeSelector, corev1.ScopeSelector{}).MatchExpressions)
	for _, s := range q.Scopes {
		scopes = append(
			scopes, corev1.ScopedResourceSelectorRequirement{ScopeName: s, Operator: corev1.ScopeSelectorOpExists},
		)
	}
	return !slices.ContainsFunc(scopes, func(s corev1.ScopedResourceSelectorRequirement) bool {
		return !k.inScope(s, obj)
	})
}
