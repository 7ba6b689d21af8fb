package main

import (
	"context"

	admreg "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// nobody allows nothing.
type nobody struct{}

func (nobody) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "nobody", nil
}

// everything matches all requests.
func everything() *admreg.MatchResources {
	equivalent, all := admreg.Equivalent, admreg.AllScopes
	return &admreg.MatchResources{MatchPolicy: &equivalent, NamespaceSelector: &metav1.LabelSelector{},
		ObjectSelector: &metav1.LabelSelector{},
		ResourceRules: []admreg.NamedRuleWithOperations{{RuleWithOperations: admreg.RuleWithOperations{
			Operations: []admreg.OperationType{"*"},
			Rule: admreg.Rule{
				APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}, Scope: &all,
			},
		}}}}
}

// namespace is that of all requests.
func namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
}

func pod() *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// attributes are those of a request of alice for a pod.
func attributes(
	obj, old runtime.Object, name string, op admission.Operation, opts runtime.Object,
) admission.Attributes {
	return admission.NewAttributesRecord(
		obj, old, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "default", name,
		schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", op, opts, false,
		&user.DefaultInfo{Name: "alice", Groups: []string{"g"}},
	)
}
