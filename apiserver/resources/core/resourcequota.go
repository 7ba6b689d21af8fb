package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func resourceQuotas() *entry.Resource {
	return &entry.Resource{
		Plural: "resourcequotas", New: entry.New[corev1.ResourceQuota], Namespaced: true,
		ShortNames: []string{"quota"},
		Strategy: entry.Strategy{
			Default:  entry.Default(defaultResourceQuota),
			Validate: entry.ValidateChange(validateResourceQuota),
			Warnings: entry.Warn(resourceQuotaWarnings),
		},
		Delete:       entry.Deletion{Returned: true},
		Subresources: entry.StatusOf(nil, validateResourceQuotaStatus),
		Table:        resourceQuotaTable(),
	}
}

func defaultResourceQuota(q *corev1.ResourceQuota) {
	for _, list := range []corev1.ResourceList{q.Spec.Hard, q.Status.Hard, q.Status.Used} {
		check.Round(list)
	}
}

// resourceQuotaWarnings returns warnings for a new quota that allows more requests than limits.
func resourceQuotaWarnings(q, old *corev1.ResourceQuota) (texts []string) {
	if old != nil {
		return nil
	}
	for _, name := range []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceStorage, corev1.ResourceEphemeralStorage,
	} {
		requests, limits := "requests."+name, "limits."+name
		request, found := q.Spec.Hard[requests]
		if !found && (name == corev1.ResourceCPU || name == corev1.ResourceMemory) {
			requests = name
			request, found = q.Spec.Hard[name]
		}
		if limit, limited := q.Spec.Hard[limits]; found && limited && request.Cmp(limit) > 0 {
			texts = append(texts, fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)",
				requests, request.String(), limits, limit.String()))
		}
	}
	return texts
}

func validateResourceQuota(q, old *corev1.ResourceQuota) field.ErrorList {
	errs := quotaSpec(&q.Spec, field.NewPath("spec"))
	if old == nil {
		return append(errs, quotaStatus(q)...)
	}
	return append(errs, check.Reject(!maps.Equal(check.Set(q.Spec.Scopes...), check.Set(old.Spec.Scopes...)),
		field.NewPath("spec", "scopes"), q.Spec.Scopes, apivalidation.FieldImmutableErrorMsg)...)
}

func validateResourceQuotaStatus(q, _ *corev1.ResourceQuota) (errs field.ErrorList) {
	errs = append(errs, check.Present(q.ResourceVersion != "", field.NewPath("resourceVersion"), "")...)
	return append(errs, quotaStatus(q)...)
}

func quotaStatus(q *corev1.ResourceQuota) field.ErrorList {
	return append(
		quotaAmounts(q.Status.Hard, field.NewPath("status", "hard")),
		quotaAmounts(q.Status.Used, field.NewPath("status", "used"))...,
	)
}

func quotaAmounts(list corev1.ResourceList, at *field.Path) (errs field.ErrorList) {
	for _, name := range check.Sorted(list) {
		at := at.Key(string(name))
		errs = append(errs, check.NameOfResource(name, at)...)
		errs = append(errs, check.Reject(!strings.Contains(string(name), "/") && !check.IsQuotaResource(name), at, name,
			"must be a standard resource for quota")...)
		errs = append(errs, check.ResourceQuantity(name, list[name], at)...)
	}
	return errs
}

func quotaSpec(s *corev1.ResourceQuotaSpec, at *field.Path) field.ErrorList {
	errs := quotaAmounts(s.Hard, at.Child("hard"))
	scopes := at.Child("scopes")
	unfit := misfits(s.Hard)
	for _, scope := range s.Scopes {
		errs = append(errs, check.Reject(!isScope(scope), scopes, s.Scopes, "unsupported scope")...)
		for range unfit(scope) {
			errs = append(errs, field.Invalid(scopes, s.Scopes, "unsupported scope applied to resource"))
		}
	}
	errs = append(errs, scopeConflicts(s.Scopes, s.Scopes, scopes)...)
	if s.ScopeSelector != nil {
		errs = append(errs, scopeSelector(s, at.Child("scopeSelector").Child("matchExpressions"))...)
	}
	return errs
}

func scopeSelector(s *corev1.ResourceQuotaSpec, at *field.Path) (errs field.ErrorList) {
	var scopes []corev1.ResourceQuotaScope
	unfit := misfits(s.Hard)
	for _, r := range s.ScopeSelector.MatchExpressions {
		scopes = append(scopes, r.ScopeName)
		errs = append(errs, check.Reject(!isScope(r.ScopeName), at.Child("scopeName"), r.ScopeName, "unsupported scope")...)
		for range unfit(r.ScopeName) {
			errs = append(errs, field.Invalid(at, s.ScopeSelector, "unsupported scope applied to resource"))
		}
		valueless := slices.Contains(scopesThatExist, r.ScopeName)
		errs = append(errs, check.Reject(valueless && r.Operator != corev1.ScopeSelectorOpExists, at.Child("operator"),
			r.Operator,
			"must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity")...)
		switch r.Operator {
		case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
			errs = append(errs, check.Present(len(r.Values) > 0, at.Child("values"),
				"must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")...)
		case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
			errs = append(errs, check.Reject(len(r.Values) != 0, at.Child("values"), r.Values,
				"must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")...)
		default:
			errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
		}
	}
	return append(errs, scopeConflicts(scopes, s.Scopes, at)...)
}

// scopesThatExist are the scopes that allow no operator except Exists.
var scopesThatExist = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort,
	corev1.ResourceQuotaScopeNotBestEffort,
	corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating,
	corev1.ResourceQuotaScopeCrossNamespacePodAffinity}

func isScope(s corev1.ResourceQuotaScope) bool {
	return slices.Contains(scopesThatExist, s) || s == corev1.ResourceQuotaScopePriorityClass ||
		s == corev1.ResourceQuotaScopeVolumeAttributesClass
}

var podMeasures = check.Set(corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU,
	corev1.ResourceRequestsMemory,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory)

// misfits returns a function that returns the quota's resources to which a scope does not apply. It computes them once
// for each scope.
func misfits(hard corev1.ResourceList) func(corev1.ResourceQuotaScope) []corev1.ResourceName {
	known := map[corev1.ResourceQuotaScope][]corev1.ResourceName{}
	return func(scope corev1.ResourceQuotaScope) []corev1.ResourceName {
		if _, ok := known[scope]; !ok && isScope(scope) {
			known[scope] = misfitsOf(scope, hard)
		}
		return known[scope]
	}
}

func misfitsOf(scope corev1.ResourceQuotaScope, hard corev1.ResourceList) (names []corev1.ResourceName) {
	for _, name := range check.Sorted(hard) {
		fits := name == corev1.ResourcePods || podMeasures[name]
		switch scope {
		case corev1.ResourceQuotaScopeBestEffort:
			fits = name == corev1.ResourcePods
		case corev1.ResourceQuotaScopeVolumeAttributesClass:
			fits = name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
		}
		if check.IsQuotaResource(name) && !fits {
			names = append(names, name)
		}
	}
	return names
}

func scopeConflicts(scopes, shown []corev1.ResourceQuotaScope, at *field.Path) (errs field.ErrorList) {
	for _, pair := range [][2]corev1.ResourceQuotaScope{
		{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort},
		{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
	} {
		errs = append(errs, check.Reject(slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]), at, shown,
			"conflicting scopes")...)
	}
	return errs
}

func resourceQuotaTable() entry.Table {
	return entry.Listed([]entry.Column{
		entry.Text("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
		entry.Text(
			"Limit",
			"Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
		),
	}, func(q *corev1.ResourceQuota) []any {
		var requests, limits []string
		for _, name := range slices.Sorted(maps.Keys(q.Status.Hard)) {
			used, hard := q.Status.Used[name], q.Status.Hard[name]
			usage := string(name) + ": " + used.String() + "/" + hard.String()
			if strings.HasPrefix(string(name), "limits.") {
				limits = append(limits, usage)
			} else {
				requests = append(requests, usage)
			}
		}
		return []any{strings.Join(requests, ", "), strings.Join(limits, ", ")}
	})
}
