package authorization

import (
	"context"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func selfSubjectRulesReviews() *entry.Resource {
	return entry.Reviews("selfsubjectrulesreviews", false, validateRules, reviewRules)
}

func validateRules(_ entry.Request, v *authorizationv1.SelfSubjectRulesReview) error {
	if v.Spec.Namespace == "" {
		return apierrors.NewBadRequest("no namespace on request")
	}
	return nil
}

// reviewRules sets the user's permissions in a namespace.
func reviewRules(_ context.Context, r entry.Request, v *authorizationv1.SelfSubjectRulesReview) {
	rules, err := r.Authorizer().Rules(r.User(), v.Spec.Namespace)
	v.Status = authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{}}
	for i := range rules {
		addRule(&v.Status, &rules[i])
	}
	if err != nil {
		v.Status.EvaluationError = err.Error()
	}
}

func addRule(s *authorizationv1.SubjectRulesReviewStatus, r *rbacv1.PolicyRule) {
	if len(r.Resources) > 0 {
		s.ResourceRules = append(s.ResourceRules, authorizationv1.ResourceRule{Verbs: slices.Clone(r.Verbs),
			APIGroups: slices.Clone(r.APIGroups), Resources: slices.Clone(r.Resources),
			ResourceNames: slices.Clone(r.ResourceNames)})
	}
	if len(r.NonResourceURLs) > 0 {
		s.NonResourceRules = append(s.NonResourceRules, authorizationv1.NonResourceRule{
			Verbs: slices.Clone(r.Verbs), NonResourceURLs: slices.Clone(r.NonResourceURLs)})
	}
}
