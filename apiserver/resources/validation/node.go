package validation

// Not checked of nodes: the taints and the preference to avoid pods in annotations, which nothing
// reads since 1.6, spec.configSource and status.config, which kubelets ignore, and
// status.declaredFeatures.

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

func node(n *corev1.Node) field.ErrorList {
	errs := taints(n.Spec.Taints, field.NewPath("metadata", "taints"))
	errs = append(errs, nodeResources(n)...)
	return append(errs, podCIDRs(n.Spec.PodCIDRs, field.NewPath("spec", "podCIDRs"))...)
}

// nodeUpdate judges the new node and then its change, so that some errors come twice, as upstream's do.
func nodeUpdate(n, old *corev1.Node) field.ErrorList {
	return append(node(n), nodeStatus(n, old)...)
}

// nodeStatus is core ValidateNodeUpdate, which judges spec and status whichever is written.
func nodeStatus(n, old *corev1.Node) field.ErrorList {
	spec := field.NewPath("spec")
	errs := nodeResources(n)
	seen := map[corev1.NodeAddress]bool{}
	for i, a := range invalid.Each(n.Status.Addresses, &errs) {
		if seen[a] {
			errs = append(errs, field.Duplicate(field.NewPath("status", "addresses").Index(i), internal(a)))
		}
		seen[a] = true
	}
	const keep = "node updates may not change podCIDR except from \"\" to valid"
	switch now, was := n.Spec.PodCIDRs, old.Spec.PodCIDRs; {
	case len(was) == 0:
	case len(was) != len(now):
		errs = append(errs, field.Forbidden(spec.Child("podCIDRs"), keep))
	default:
		for i := range invalid.Each(was, &errs) {
			if was[i] != now[i] {
				errs = append(errs, field.Forbidden(spec.Child("podCIDRs"), keep))
			}
		}
	}
	if old.Spec.ProviderID != "" && old.Spec.ProviderID != n.Spec.ProviderID {
		errs = append(errs, field.Forbidden(spec.Child("providerID"), "node updates may not change providerID except from \"\" to valid"))
	}
	errs = append(errs, taints(n.Spec.Taints, field.NewPath("metadata", "taints"))...)
	if n.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID {
		errs = append(errs, field.Forbidden(spec.Child("externalID"), "may not be updated"))
	}
	return errs
}

func nodeResources(n *corev1.Node) (errs field.ErrorList) {
	for _, list := range []struct {
		name    string
		amounts corev1.ResourceList
	}{{"capacity", n.Status.Capacity}, {"allocatable", n.Status.Allocatable}} {
		for _, name := range invalid.Each(sorted(list.amounts), &errs) {
			errs = append(errs, resourceQuantity(name, list.amounts[name], field.NewPath("status", list.name, string(name)))...)
		}
	}
	return errs
}

func podCIDRs(cidrs []string, at *field.Path) (errs field.ErrorList) {
	for i, value := range invalid.Each(cidrs, &errs) {
		errs = append(errs, cidr(value, at.Index(i), nil)...)
	}
	if len(cidrs) < 2 {
		return errs
	}
	dual, err := netutils.IsDualStackCIDRStrings(cidrs)
	if err != nil {
		errs = append(errs, field.InternalError(at, dualStackError{err}))
	}
	if !dual || len(cidrs) > 2 {
		errs = append(errs, field.Invalid(at, cidrs, "may specify no more than one CIDR for each IP family"))
	}
	seen := map[string]bool{}
	for i, value := range invalid.Each(cidrs, &errs) {
		if seen[value] {
			errs = append(errs, field.Duplicate(at.Index(i), value))
		}
		seen[value] = true
	}
	return errs
}

type dualStackError struct{ error }

func (e dualStackError) Error() string {
	return "invalid PodCIDRs. failed to check with dual stack with error:" + e.error.Error()
}

// taints judges each and wants a key and effect only once.
func taints(list []corev1.Taint, at *field.Path) (errs field.ErrorList) {
	type key struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := map[key]bool{}
	for i, t := range invalid.Each(list, &errs) {
		at := at.Index(i)
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, at.Child("key"))...)
		if texts := utilvalidation.IsValidLabelValue(t.Value); len(texts) != 0 {
			errs = append(errs, field.Invalid(at.Child("value"), t.Value, strings.Join(texts, ";")))
		}
		errs = append(errs, required(t.Effect, at.Child("effect"), taintEffects)...)
		k := key{t.Key, t.Effect}
		if seen[k] {
			twice := field.Duplicate(at, internal(t))
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
		seen[k] = true
	}
	return errs
}
