package webhook

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Target is what rules are matched with: a request, in one of the versions in which its object can be shown.
type Target struct {
	Resource    schema.GroupVersionResource
	Subresource string
	// Namespace is that of the request; for a namespace and its subresources its own name.
	Namespace string
	Operation admissionregistrationv1.OperationType
}

// exempt are the kinds of group admissionregistration.k8s.io that no webhook sees, so that none can lock itself in
// (L-23).
var exempt = []string{
	"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies",
	"validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
}

// Exempt reports whether no webhook is called for requests of the resource.
func Exempt(r schema.GroupVersionResource) bool {
	return r.Group == admissionregistrationv1.GroupName && slices.Contains(exempt, r.Resource)
}

// Matches reports whether one rule matches (AS pkg/admission/plugin/webhook/predicates/rules/rules.go: Matches).
func (t Target) Matches(r *admissionregistrationv1.RuleWithOperations) bool {
	return inScope(r.Scope, t) && holds(r.Operations, t.Operation) && holds(r.APIGroups, t.Resource.Group) &&
		holds(r.APIVersions, t.Resource.Version) && slices.ContainsFunc(r.Resources, func(pattern string) bool {
		resource, sub, _ := strings.Cut(pattern, "/")
		return (resource == "*" || resource == t.Resource.Resource) && (sub == "*" || sub == t.Subresource)
	})
}

// holds reports whether a list has an item, or the item for all.
func holds[T ~string](list []T, item T) bool {
	return slices.Contains(list, "*") || slices.Contains(list, item)
}

// inScope matches the scope (L-33).
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

// InNamespace matches a namespaceSelector (L-37). own are the labels of a namespace that is created or updated, for a
// request of the resource namespaces itself. stored returns those of the stored namespace; its error is the result's.
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

// Selects matches an objectSelector with the labels of the new and of the old object (L-40). An object that does not
// exist, or has no metadata, is nil.
func Selects(s labels.Selector, object, old *labels.Set) bool {
	return s.Empty() || object != nil && s.Matches(*object) || old != nil && s.Matches(*old)
}
