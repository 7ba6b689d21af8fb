package resources

import (
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func leases() *entry.Resource {
	return &entry.Resource{
		Plural: "leases", New: entry.New[coordinationv1.Lease], Namespaced: true,
		Strategy: entry.Strategy{
			CreateOnUpdate: true,
			Conditional:    true,
			Metadata:       entry.Metadata{Custom: true},
			Prepare:        entry.Change(dropElection),
			Validate:       entry.Validate(validateLease),
		},
		Table: entry.Listed([]entry.Column{entry.Text("Holder", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"])},
			func(l *coordinationv1.Lease) []any { return []any{entry.ValueOr(l.Spec.HolderIdentity, "")} }),
	}
}

// dropElection removes the fields of the gate CoordinatedLeaderElection, which is off.
var dropElection = check.Gates(
	check.Gate[coordinationv1.Lease](check.FieldsOf[coordinationv1.LeaseSpec]("Strategy")),
	check.Gate[coordinationv1.Lease](check.FieldsOf[coordinationv1.LeaseSpec]("PreferredHolder")))

func validateLease(l *coordinationv1.Lease) (errs field.ErrorList) {
	at, s := field.NewPath("spec"), &l.Spec
	errs = append(errs, check.Reject(s.LeaseDurationSeconds != nil && *s.LeaseDurationSeconds <= 0,
		at.Child("leaseDurationSeconds"), s.LeaseDurationSeconds, "must be greater than 0")...)
	errs = append(errs, check.Reject(check.ValueOf(s.LeaseTransitions) < 0, at.Child("leaseTransitions"),
		s.LeaseTransitions, "must be greater than or equal to 0")...)
	errs = append(errs, check.Given(s.Strategy, at.Child("strategy"), leaseStrategy)...)
	if p := s.PreferredHolder; p != nil && *p != "" && (s.Strategy == nil || *s.Strategy == "") {
		errs = append(errs, field.Forbidden(at.Child("preferredHolder"), "may only be specified if `strategy` is defined"))
	}
	return errs
}

// leaseStrategy requires a known strategy or a qualified name. Its path contains "strategy" twice.
func leaseStrategy(s coordinationv1.CoordinatedLeaseStrategy, at *field.Path) (errs field.ErrorList) {
	at = at.Child("strategy")
	if !strings.Contains(string(s), "/") {
		return check.OneOf(s, at, []coordinationv1.CoordinatedLeaseStrategy{coordinationv1.OldestEmulationVersion})
	}
	for _, text := range utilvalidation.IsQualifiedName(string(s)) {
		errs = append(errs, field.Invalid(at, s, text))
	}
	return errs
}
