package resources

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// amend changes an object of a version of sameMessages that was decoded with the type of another one, where the fields
// are the same and what they mean, or what stands for a missing one, is not.
func amend(is schema.GroupVersionKind, obj runtime.Object) {
	switch is.GroupVersion().String() {
	case rolesV1alpha1:
		switch b := obj.(type) {
		case *rbacv1.RoleBinding:
			amendSubjects(b.Subjects)
		case *rbacv1.ClusterRoleBinding:
			amendSubjects(b.Subjects)
		}
	case "policy/v1beta1":
		if b, ok := obj.(*policyv1.PodDisruptionBudget); ok {
			amendBudget(&b.Spec)
		}
	case "admissionregistration.k8s.io/v1beta1":
		switch c := obj.(type) {
		case *admissionv1.ValidatingWebhookConfiguration:
			for i := range c.Webhooks {
				w := &c.Webhooks[i]
				amendWebhook(&w.FailurePolicy, &w.MatchPolicy, &w.SideEffects, &w.TimeoutSeconds, &w.AdmissionReviewVersions)
			}
		case *admissionv1.MutatingWebhookConfiguration:
			for i := range c.Webhooks {
				w := &c.Webhooks[i]
				amendWebhook(&w.FailurePolicy, &w.MatchPolicy, &w.SideEffects, &w.TimeoutSeconds, &w.AdmissionReviewVersions)
			}
		}
	case "flowcontrol.apiserver.k8s.io/v1beta3": // it keeps a 0 from being defaulted (V1beta3 conversion.go)
		if l, ok := obj.(*flowcontrolv1.PriorityLevelConfiguration); ok {
			delete(l.Annotations, "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares")
		}
	}
}

// rolesV1alpha1 is the version of RBAC's kinds before v1beta1.
const rolesV1alpha1 = "rbac.authorization.k8s.io/v1alpha1"

// amendSubjects sets the API groups, in whose place v1alpha1 has an API version, and replaces the user * (K
// pkg/apis/rbac/v1alpha1/conversion.go: Convert_v1alpha1_Subject_To_rbac_Subject).
func amendSubjects(subjects []rbacv1.Subject) {
	for i := range subjects {
		s := &subjects[i]
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			s.APIGroup = ""
		case rbacv1.UserKind, rbacv1.GroupKind:
			s.APIGroup = rbacv1.GroupName
			if s.Kind == rbacv1.UserKind && s.Name == "*" {
				s.Kind, s.Name = rbacv1.GroupKind, "system:authenticated"
			}
		default:
			gv, err := schema.ParseGroupVersion(s.APIGroup)
			if err == nil {
				s.APIGroup = gv.Group
			}
		}
	}
}

// emptySelector is the key by which v1 has selectors of v1beta1 that it has no others for (K
// pkg/apis/policy/helper.go).
const emptySelector = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

// amendBudget replaces an empty selector, which selects no pod in v1beta1 and all in v1, and the requirement by which
// v1beta1 selects all (K pkg/apis/policy/v1beta1/conversion.go).
func amendBudget(spec *policyv1.PodDisruptionBudgetSpec) {
	s := spec.Selector
	if s == nil {
		return
	}
	if len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		s.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: emptySelector, Operator: metav1.LabelSelectorOpExists}}
		return
	}
	s.MatchExpressions = slices.DeleteFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return r.Key == emptySelector
	})
}

// amendWebhook sets the defaults of v1beta1, which are not those of v1, of fields that the release that stored the
// webhook did not have (K pkg/apis/admissionregistration/v1beta1/defaults.go).
func amendWebhook(failure **admissionv1.FailurePolicyType, match **admissionv1.MatchPolicyType,
	effects **admissionv1.SideEffectClass, timeout **int32, reviews *[]string) {
	check.SetDefault(failure, admissionv1.Ignore)
	check.SetDefault(match, admissionv1.Exact)
	check.SetDefault(effects, admissionv1.SideEffectClassUnknown)
	check.SetDefault(timeout, 30)
	if len(*reviews) == 0 {
		*reviews = []string{"v1beta1"}
	}
}
