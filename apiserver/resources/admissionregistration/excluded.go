package admissionregistration

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Reviews are resources that are not stored. Policies and webhooks do not receive them: a webhook for them could lock
// all users out (V-105, M-21; K pkg/kubeapiserver/admission/exclusion/resources.go).
var Reviews = map[schema.GroupResource]bool{
	{Group: "authentication.k8s.io", Resource: "tokenreviews"}:             true,
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}:       true,
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}: true,
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}:  true,
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}:   true,
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}:      true,
}

func webhookWarnings(c metav1.Object, list []admissionv1.MutatingWebhook) []string {
	texts := reservedName(c, nil)
	for i := range list {
		texts = append(texts, excludedRules(list[i].Rules, field.NewPath("webhooks").Index(i).Child("rules"))...)
	}
	return texts
}

// excludedRules returns warnings for rules that name a review. It ignores rules with a wildcard, because the wildcard
// may be meant for other resources (K pkg/apis/admissionregistration/validation: WarningsForValidatingWebhookRules).
func excludedRules(rules []admissionv1.RuleWithOperations, at *field.Path) (texts []string) {
	for i, r := range rules {
		if slices.Contains(r.APIGroups, "*") || slices.Contains(r.Resources, "*") {
			continue
		}
		named := map[schema.GroupResource]bool{}
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				gr := schema.GroupResource{Group: group, Resource: resource}
				if !Reviews[gr] || named[gr] {
					continue
				}
				named[gr] = true
				texts = append(texts, fmt.Sprintf(
					"%s: %s is excluded from admission webhooks; this rule will have no effect", at.Index(i), gr))
			}
		}
	}
	return texts
}
