package bootstrap

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/apiserver/authorization/rbac"
)

// reconcileClusterRole adds to have what it lacks of want, and reports whether have was changed (component-helpers
// auth/rbac/reconciliation, as kube-apiserver uses it at its start).
func reconcileClusterRole(have, want *rbacv1.ClusterRole) bool {
	if reconciliationDisabled(&have.ObjectMeta) {
		return false
	}
	changed := addMetadata(&have.ObjectMeta, &want.ObjectMeta)
	if want.AggregationRule != nil {
		return addSelectors(have, want.AggregationRule) || changed
	}
	if have.AggregationRule != nil { // otherwise aggregation overwrites its rules
		have.AggregationRule, changed = nil, true
	}
	return addRules(&have.Rules, want.Rules) || changed
}

// reconcileRole is reconcileClusterRole for Roles.
func reconcileRole(have, want *rbacv1.Role) bool {
	if reconciliationDisabled(&have.ObjectMeta) {
		return false
	}
	changed := addMetadata(&have.ObjectMeta, &want.ObjectMeta)
	return addRules(&have.Rules, want.Rules) || changed
}

// roleBinding has the common fields of the two kinds of bindings.
type roleBinding struct {
	Meta     *metav1.ObjectMeta
	Ref      rbacv1.RoleRef
	Subjects *[]rbacv1.Subject
}

// outcome is the necessary change of an object.
type outcome uint8

// The outcomes. A binding's role can't be changed, so a binding to another role is recreated.
const (
	keep outcome = iota
	update
	recreate
)

// String returns the name of the outcome.
func (o outcome) String() string { return [...]string{"keep", "update", "recreate"}[o] }

// reconcileBinding adds the subjects, labels and annotations of want that have lacks.
func reconcileBinding(have, want roleBinding) outcome {
	if reconciliationDisabled(have.Meta) {
		return keep
	}
	if have.Ref != want.Ref {
		return recreate
	}
	changed := addMetadata(have.Meta, want.Meta)
	for _, s := range *want.Subjects {
		if !slices.Contains(*have.Subjects, s) {
			*have.Subjects = append(*have.Subjects, s)
			changed = true
		}
	}
	if changed {
		return update
	}
	return keep
}

// reconciliationDisabled reports whether a user has disabled the reconciliation of the object.
func reconciliationDisabled(m *metav1.ObjectMeta) bool {
	return m.Annotations[rbacv1.AutoUpdateAnnotationKey] == "false"
}

func addMetadata(have, want *metav1.ObjectMeta) bool {
	labels := addMissing(&have.Labels, want.Labels)
	return addMissing(&have.Annotations, want.Annotations) || labels
}

// addMissing adds missing entries. It does not change existing ones, so that a user can exclude a default role from an
// aggregation.
func addMissing(have *map[string]string, want map[string]string) bool {
	before := len(*have)
	*have = labels.Merge(want, *have)
	return len(*have) > before
}

func addRules(have *[]rbacv1.PolicyRule, want []rbacv1.PolicyRule) bool {
	missing := rbac.Missing(*have, want)
	*have = append(*have, missing...)
	return len(missing) > 0
}

func addSelectors(have *rbacv1.ClusterRole, want *rbacv1.AggregationRule) (changed bool) {
	if have.AggregationRule == nil {
		have.AggregationRule = &rbacv1.AggregationRule{}
	}
	for _, s := range want.ClusterRoleSelectors {
		if !slices.ContainsFunc(have.AggregationRule.ClusterRoleSelectors, func(h metav1.LabelSelector) bool {
			return apiequality.Semantic.DeepEqual(h, s)
		}) {
			have.AggregationRule.ClusterRoleSelectors = append(have.AggregationRule.ClusterRoleSelectors, s)
			changed = true
		}
	}
	return changed
}
