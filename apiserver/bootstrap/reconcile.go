package bootstrap

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/apiserver/authorization/rbac"
)

// reconcileClusterRole adds to have what it lacks of want (component-helpers auth/rbac/reconciliation, as
// kube-apiserver uses it at its start).
func reconcileClusterRole(have, want *rbacv1.ClusterRole) error {
	if reconciliationDisabled(&have.ObjectMeta) {
		return nil
	}
	addMetadata(&have.ObjectMeta, &want.ObjectMeta)
	if want.AggregationRule != nil {
		addSelectors(have, want.AggregationRule)
		return nil
	}
	have.AggregationRule = nil // it would overwrite the rules
	have.Rules = append(have.Rules, rbac.Missing(have.Rules, want.Rules)...)
	return nil
}

// reconcileRole is reconcileClusterRole for Roles.
func reconcileRole(have, want *rbacv1.Role) error {
	if !reconciliationDisabled(&have.ObjectMeta) {
		addMetadata(&have.ObjectMeta, &want.ObjectMeta)
		have.Rules = append(have.Rules, rbac.Missing(have.Rules, want.Rules)...)
	}
	return nil
}

// reconcileBinding adds the subjects, labels and annotations of want that have lacks. A binding's role can't be
// changed, so a binding to another role must be recreated.
func reconcileBinding(have, want *rbacv1.RoleBinding) error {
	if reconciliationDisabled(&have.ObjectMeta) {
		return nil
	}
	if have.RoleRef != want.RoleRef {
		return errRecreate
	}
	addMetadata(&have.ObjectMeta, &want.ObjectMeta)
	for _, s := range want.Subjects {
		if !slices.Contains(have.Subjects, s) {
			have.Subjects = append(have.Subjects, s)
		}
	}
	return nil
}

// reconciliationDisabled reports whether a user has disabled the reconciliation of the object.
func reconciliationDisabled(m *metav1.ObjectMeta) bool {
	return m.Annotations[rbacv1.AutoUpdateAnnotationKey] == "false"
}

// addMetadata adds missing labels and annotations. It does not change existing ones, so that a user can exclude a
// default role from an aggregation.
func addMetadata(have, want *metav1.ObjectMeta) {
	have.Labels = labels.Merge(want.Labels, have.Labels)
	have.Annotations = labels.Merge(want.Annotations, have.Annotations)
}

func addSelectors(have *rbacv1.ClusterRole, want *rbacv1.AggregationRule) {
	if have.AggregationRule == nil {
		have.AggregationRule = &rbacv1.AggregationRule{}
	}
	for _, s := range want.ClusterRoleSelectors {
		if !slices.ContainsFunc(have.AggregationRule.ClusterRoleSelectors, func(h metav1.LabelSelector) bool {
			return apiequality.Semantic.DeepEqual(h, s)
		}) {
			have.AggregationRule.ClusterRoleSelectors = append(have.AggregationRule.ClusterRoleSelectors, s)
		}
	}
}
