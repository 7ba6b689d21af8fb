package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podresource "k8s.io/component-helpers/resource"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// podResourceName requires a resource that is supported at the pod level.
func podResourceName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := check.NameOfResource(name, at)
	if len(errs) != 0 || name == corev1.ResourceCPU || name == corev1.ResourceMemory || check.IsHugePage(name) {
		return errs
	}
	return field.ErrorList{field.NotSupported(at, name,
		[]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceHugePagesPrefix, corev1.ResourceMemory})}
}

// Resources validates requests and limits (core validateResourceRequirements).
func (r *Rules) Resources(
	q *corev1.ResourceRequirements, name func(corev1.ResourceName, *field.Path) field.ErrorList, at *field.Path,
) (errs field.ErrorList) {
	limits, requests := at.Child("limits"), at.Child("requests")
	for _, n := range check.Sorted(q.Limits) {
		errs = append(errs, r.amount(n, q.Limits[n], name, limits.Key(string(n)), nil)...)
	}
	for _, n := range check.Sorted(q.Requests) {
		limit, limited := q.Limits[n]
		bound := overLimit(n, q.Requests[n], limit, limited, at)
		errs = append(errs, r.amount(n, q.Requests[n], name, requests.Key(string(n)), bound)...)
	}
	errs = append(errs, check.Forbid(hugeAlone(q.Limits, q.Requests), at, "HugePages require cpu or memory")...)
	return append(errs, r.claimRefs(q.Claims, at.Child("claims"))...)
}

// amount validates one entry. between has errors that it returns after the entry's first errors and before those of
// huge pages.
func (r *Rules) amount(
	n corev1.ResourceName, q resource.Quantity, name func(corev1.ResourceName, *field.Path) field.ErrorList,
	at *field.Path, between field.ErrorList,
) field.ErrorList {
	errs := append(name(n, at), check.ResourceQuantity(n, q, at)...)
	errs = append(errs, between...)
	return append(errs, check.Reject(check.IsHugePage(n) && !r.had.invalidHugePages && !wholePages(n, q), at, q.String(),
		fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), n))...)
}

// overLimit requires that a request does not exceed its limit. If the resource can't be overcommitted, the request must
// equal the limit.
func overLimit(n corev1.ResourceName, q, limit resource.Quantity, limited bool, at *field.Path) field.ErrorList {
	shared := check.IsNativeResource(n) && !check.IsHugePage(n)
	requests := at.Child("requests")
	switch {
	case !limited && !shared:
		return field.ErrorList{field.Required(at.Child("limits"), "Limit must be set for non overcommitable resources")}
	case !limited:
		return nil
	case !shared:
		return check.Reject(q.Cmp(limit) != 0, requests, q.String(),
			fmt.Sprintf("must be equal to %s limit of %s", n, limit.String()))
	}
	return check.Reject(q.Cmp(limit) > 0, requests, q.String(),
		fmt.Sprintf("must be less than or equal to %s limit of %s", n, limit.String()))
}

// wholePages reports whether a quantity is a multiple of the page size in the resource's name.
func wholePages(n corev1.ResourceName, q resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(n), corev1.ResourceHugePagesPrefix))
	if err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 {
		return false
	}
	return q.Value()%size.Value() == 0
}

func hugeAlone(lists ...corev1.ResourceList) bool {
	huge := false
	for _, list := range lists {
		for n := range list {
			if n == corev1.ResourceCPU || n == corev1.ResourceMemory {
				return false
			}
			huge = huge || check.IsHugePage(n)
		}
	}
	return huge
}

// claimRefs requires that a container's claims are claims of the pod. Each must be named once: either the whole claim
// or one of its requests (core validateResourceClaimNames).
func (r *Rules) claimRefs(claims []corev1.ResourceClaim, at *field.Path) (errs field.ErrorList) {
	whole, parts := map[string]bool{}, map[string]map[string]bool{}
	for i, c := range claims {
		here := at.Index(i)
		switch {
		case c.Name == "":
			errs = append(errs, field.Required(here, ""))
			continue
		case whole[c.Name]:
			errs = append(errs, field.Duplicate(here, c.Name))
		case c.Request == "":
			for range check.Sorted(parts[c.Name]) {
				errs = append(errs, field.Duplicate(here, c.Name))
			}
			whole[c.Name] = true
		default:
			errs = append(errs, check.DNSLabel(c.Request, here.Child("request"))...)
			if parts[c.Name][c.Request] {
				errs = append(errs, field.Duplicate(here, c.Name+"/"+c.Request))
			}
			if parts[c.Name] == nil {
				parts[c.Name] = map[string]bool{}
			}
			parts[c.Name][c.Request] = true
		}
		if !r.claims[c.Name] {
			errs = append(errs, r.unknownClaim(c.Name, here))
		}
	}
	return errs
}

func (r *Rules) unknownClaim(name string, at *field.Path) *field.Error {
	if r.claimNames == "" {
		r.claimNames = "must be one of the names in pod.spec.resourceClaims"
		if len(r.claims) == 0 {
			r.claimNames += " which is empty"
		} else {
			r.claimNames += ": " + strings.Join(check.Sorted(r.claims), ", ")
		}
	}
	err := field.NotFound(at, name)
	err.Detail = r.claimNames
	return err
}

// resourceClaims validates the pod's claims (core validatePodResourceClaims).
func (r *Rules) resourceClaims(at *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i := range r.spec.ResourceClaims {
		c, here := &r.spec.ResourceClaims[i], at.Index(i)
		if r.Static {
			errs = append(errs, field.Forbidden(field.NewPath(""), "static pods do not support resource claims"))
			continue
		}
		switch {
		case c.Name == "":
			errs = append(errs, check.RequireAll(here, "name", "")...)
		case seen[c.Name]:
			errs = append(errs, field.Duplicate(here.Child("name"), c.Name))
		default:
			errs = append(errs, check.DNSLabel(c.Name, here.Child("name"))...)
			seen[c.Name] = true
		}
		errs = append(errs, check.Reject(c.ResourceClaimName != nil && c.ResourceClaimTemplateName != nil, here, *c,
			"at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")...)
		errs = append(errs, check.Reject(c.ResourceClaimName == nil && c.ResourceClaimTemplateName == nil, here, *c,
			"must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")...)
		errs = append(errs, check.Given(c.ResourceClaimName, here.Child("resourceClaimName"), check.DNSSubdomain)...)
		errs = append(errs, check.Given(c.ResourceClaimTemplateName, here.Child("resourceClaimTemplateName"),
			check.DNSSubdomain)...)
	}
	return errs
}

// podResources validates the pod-level requests and limits. The requests must be at least the sum of the containers'
// requests, and the limits at least the limit of each container (core validatePodResources).
func (r *Rules) podResources(at *field.Path) (errs field.ErrorList) {
	q := r.spec.Resources
	if q == nil {
		return nil
	}
	if s := r.spec.OS; s != nil && s.Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(at, "may not be set for a windows pod")}
	}
	errs = append(errs, check.Forbid(q.Claims != nil, at.Child("claims"),
		"claims may not be set for Resources at pod-level")...)
	errs = append(errs, r.Resources(q, podResourceName, at)...)
	pod := &corev1.Pod{Spec: *r.spec}
	total := podresource.AggregateContainerRequests(pod, podresource.PodResourcesOptions{})
	for _, n := range check.Sorted(total) {
		errs = append(errs, atLeastTotal(q.Requests, total, n, "requests", at)...)
	}
	total = podresource.AggregateContainerLimits(pod, podresource.PodResourcesOptions{})
	for _, n := range check.Sorted(total) {
		if check.IsHugePage(n) {
			errs = append(errs, atLeastTotal(q.Limits, total, n, "limits", at)...)
		}
	}
	for i := range r.spec.Containers {
		limits := r.spec.Containers[i].Resources.Limits
		for _, n := range check.Sorted(limits) {
			limit := limits[n]
			if own, ok := q.Limits[n]; ok && limit.Cmp(own) > 0 {
				errs = append(errs, field.Invalid(at.Child("containers").Index(i).Key(string(n)).Child("limits"), limit.String(),
					"must be less than or equal to pod limits of "+own.String()))
			}
		}
	}
	return errs
}

// atLeastTotal requires that the pod's quantity of a resource, if set, is at least the total of its containers.
func atLeastTotal(own, total corev1.ResourceList, n corev1.ResourceName, what string, at *field.Path) field.ErrorList {
	all := total[n]
	q, ok := own[n]
	return check.Reject(ok && all.Cmp(q) > 0, at.Child(what).Key(string(n)), q.String(),
		"must be greater than or equal to aggregate container "+what+" of "+all.String())
}
