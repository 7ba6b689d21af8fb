package validation

import (
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func lease(l *coordinationv1.Lease) (errs field.ErrorList) {
	at, s := field.NewPath("spec"), &l.Spec
	if d := s.LeaseDurationSeconds; d != nil && *d <= 0 {
		errs = append(errs, field.Invalid(at.Child("leaseDurationSeconds"), *d, "must be greater than 0"))
	}
	if t := s.LeaseTransitions; t != nil && *t < 0 {
		errs = append(errs, field.Invalid(at.Child("leaseTransitions"), *t, "must be greater than or equal to 0"))
	}
	if s.Strategy != nil {
		errs = append(errs, leaseStrategy(*s.Strategy, at.Child("strategy"))...)
	}
	if p := s.PreferredHolder; p != nil && *p != "" && (s.Strategy == nil || *s.Strategy == "") {
		errs = append(errs, field.Forbidden(at.Child("preferredHolder"), "may only be specified if `strategy` is defined"))
	}
	return errs
}

// leaseStrategy wants a strategy that Kubernetes knows or a qualified name; its path says strategy twice.
func leaseStrategy(s coordinationv1.CoordinatedLeaseStrategy, at *field.Path) (errs field.ErrorList) {
	at = at.Child("strategy")
	if !strings.Contains(string(s), "/") {
		return oneOf(s, at, []coordinationv1.CoordinatedLeaseStrategy{coordinationv1.OldestEmulationVersion})
	}
	for _, text := range utilvalidation.IsQualifiedName(string(s)) {
		errs = append(errs, field.Invalid(at, s, text))
	}
	return errs
}

func leaseUpdate(l, _ *coordinationv1.Lease) field.ErrorList { return lease(l) }
