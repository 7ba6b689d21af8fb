package webhook

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Target is the request that rules match, in one of the versions to which its object can be converted.
type Target struct {
	Resource    schema.GroupVersionResource
	Subresource string
	// Namespace is the namespace of the request. For a namespace and its subresources it is the name.
	Namespace string
	Operation admissionregistrationv1.OperationType
}

// exempt are the kinds of group admissionregistration.k8s.io for which no webhook is called. Otherwise a webhook could
// prevent its own removal (L-23).
var exempt = []string{
	"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies",
	"validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
}

// Exempt reports whether no webhook is called for requests of the resource.
func Exempt(r schema.GroupVersionResource) bool {
	return r.Group == admissionregistrationv1.GroupName && slices.Contains(exempt, r.Resource)
}

// Matches reports whether a rule matches the target (AS pkg/admission/plugin/webhook/predicates/rules/rules.go:
// Matches).
func (t Target) Matches(r *admissionregistrationv1.RuleWithOperations) bool {
	return inScope(r.Scope, t) && holds(r.Operations, t.Operation) && holds(r.APIGroups, t.Resource.Group) &&
		holds(r.APIVersions, t.Resource.Version) && slices.ContainsFunc(r.Resources, func(pattern string) bool {
		resource, sub, _ := strings.Cut(pattern, "/")
		return (resource == "*" || resource == t.Resource.Resource) && (sub == "*" || sub == t.Subresource)
	})
}

// holds reports whether a list has the item or "*".
func holds[T ~string](list []T, item T) bool {
	return slices.Contains(list, "*") || slices.Contains(list, item)
}

// inScope reports whether the target is in the scope (L-33).
func inScope(s *admissionregistrationv1.ScopeType, t Target) bool {
	if s == nil || *s == admissionregistrationv1.AllScopes {
		return true
	}
	namespaces := t.Resource == schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	switch cluster := namespaces || t.Namespace == ""; *s {
	case admissionregistrationv1.ClusterScope:
		return cluster
	case admissionregistrationv1.NamespacedScope:
		return !cluster
	}
	return false
}

// InNamespace reports whether a namespaceSelector matches (L-37). If the request creates or updates a namespace, own
// are its labels. Otherwise stored returns the labels of the stored namespace.
func (t Target) InNamespace(s labels.Selector, own labels.Set, stored func() (labels.Set, error)) (bool, error) {
	if s.Empty() || t.Namespace == "" && t.Resource.Resource != "namespaces" {
		return true, nil
	}
	written := t.Operation == admissionregistrationv1.Create || t.Operation == admissionregistrationv1.Update
	if t.Resource.Resource == "namespaces" && t.Subresource == "" && written {
		return s.Matches(own), nil
	}
	set, err := stored()
	return err == nil && s.Matches(set), err
}

// Selects reports whether an objectSelector matches the labels of the new or of the old object (L-40). The labels are
// nil if the object does not exist or has no metadata.
func Selects(s labels.Selector, object, old *labels.Set) bool {
	return s.Empty() || object != nil && s.Matches(*object) || old != nil && s.Matches(*old)
}
