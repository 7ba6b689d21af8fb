package fieldmanager

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// resetFields are the fields that writers to an endpoint can't own, because the strategy restores their values. The
// keys are resources with their group, and the subresource. An endpoint without an entry resets nothing, except that
// one with a status subresource resets status, and status resets spec (K pkg/registry/*/*/strategy.go:GetResetFields).
var resetFields = map[string][]string{
	"pods/status": {"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"},

	"namespaces/finalize": {"status"},

	"deployments.apps/status": {"spec", "metadata.labels"},

	"certificatesigningrequests.certificates.k8s.io":          {"spec", "status"},
	"certificatesigningrequests.certificates.k8s.io/status":   {"spec", "status.conditions"},
	"certificatesigningrequests.certificates.k8s.io/approval": {"spec", "status.certificate"},

	"flowschemas.flowcontrol.apiserver.k8s.io/status":                 {"metadata", "spec"},
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/status": {"metadata", "spec"},
	"volumeattachments.storage.k8s.io/status":                         {"metadata", "spec"},
	"resourceclaims.resource.k8s.io/status":                           {"metadata", "spec"},
	"podcertificaterequests.certificates.k8s.io/status":               {"spec"},
	"devicetaintrules.resource.k8s.io/status":                         {"metadata", "spec"},
	"storageversionmigrations.storagemigration.k8s.io/status":         {"metadata", "spec"},
	"customresourcedefinitions.apiextensions.k8s.io/status":           {"metadata", "spec"},
	"apiservices.apiregistration.k8s.io/status":                       {"metadata", "spec"},

	// The strategies of these refer to versions that are no longer served or never were ("networking/v1"), so nothing
	// is reset.
	"servicecidrs.networking.k8s.io":                                  {},
	"servicecidrs.networking.k8s.io/status":                           {},
	"validatingadmissionpolicies.admissionregistration.k8s.io":        {},
	"validatingadmissionpolicies.admissionregistration.k8s.io/status": {},
}

// ownFields are the only fields that writers to an endpoint can own. * is any element of a list (K
// pkg/registry/core/pod/strategy.go:GetResetFieldsFilter).
var ownFields = map[string][]string{
	"pods/ephemeralcontainers": {"spec.ephemeralContainers"},
	"pods/resize": {
		"spec.containers.*.resources", "spec.containers.*.resizePolicy",
		"spec.initContainers.*.resources", "spec.initContainers.*.resizePolicy",
	},
}

// resets returns the filters that remove the fields that writers to an endpoint can't own, by the version of an entry
// of managedFields. versions are all versions of the resource.
func resets(res *resources.Resource, sub string,
	versions []*resources.Resource) map[fieldpath.APIVersion]fieldpath.Filter {
	filter := resetFilter(res, sub)
	if filter == nil {
		return nil
	}
	// Each version of a custom resource has its own strategy, except for the status (AX
	// pkg/apiserver/customresource_handler.go:getStatusResetFields).
	if res.Custom && sub == "" {
		versions = []*resources.Resource{res}
	}
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, v := range versions {
		filters[fieldpath.APIVersion(v.GroupVersion().String())] = filter
	}
	return filters
}

func resetFilter(res *resources.Resource, sub string) fieldpath.Filter {
	if own, ok := ownFields[endpointName(res, sub)]; ok {
		var matchers []*fieldpath.SetMatcher
		for _, path := range own {
			matchers = append(matchers, matcher(path))
		}
		return fieldpath.NewIncludeMatcherFilter(matchers...)
	}
	fields := resetPaths(res, sub)
	if len(fields) == 0 {
		return nil
	}
	set := fieldpath.NewSet()
	for _, path := range fields {
		set.Insert(fieldpath.MakePathOrDie(elements(path)...))
	}
	return fieldpath.NewExcludeSetFilter(set)
}

// resetPaths returns the paths of the fields that an endpoint resets.
func resetPaths(res *resources.Resource, sub string) []string {
	if fields, ok := resetFields[endpointName(res, sub)]; ok {
		return fields
	}
	return usualResets(res, sub)
}

func endpointName(res *resources.Resource, sub string) string {
	if sub == "" {
		return res.GroupResource().String()
	}
	return res.GroupResource().String() + "/" + sub
}

// usualResets returns the paths for an endpoint without an entry in resetFields.
func usualResets(res *resources.Resource, sub string) []string {
	switch {
	case sub == "" && res.Subresource("status") != nil:
		return []string{"status"}
	case sub == "status" && res.Custom: // AX pkg/registry/customresource/status_strategy.go
		return []string{"metadata", "spec"}
	case sub == "status":
		return []string{"spec"}
	}
	return nil
}

func matcher(path string) *fieldpath.SetMatcher {
	parts := elements(path)
	for i, part := range parts {
		if part == "*" {
			parts[i] = fieldpath.MatchAnyPathElement()
		}
	}
	return fieldpath.MakePrefixMatcherOrDie(parts...)
}

func elements(path string) []any {
	var parts []any
	for part := range strings.SplitSeq(path, ".") {
		parts = append(parts, part)
	}
	return parts
}
