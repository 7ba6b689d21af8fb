package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/rbac"
)

// escalation keeps clients from granting what they don't hold themselves: neither by a role, unless they
// may escalate it, nor by a binding, unless they may bind the role. It belongs to the mode RBAC and can't
// be turned off; it judges what all plugins have made of the object
// (K pkg/registry/rbac/*/policybased/storage.go).
type escalation struct{ s *Registry }

// Escalation is the plugin that does so; it needs the authorization mode RBAC.
func (s *Registry) Escalation() admission.Plugin { return &escalation{s} }

// Name implements admission.Plugin.
func (*escalation) Name() string { return "RBACEscalation" }

// Admit implements admission.Mutator, but changes nothing: upstream's check, too, stands before
// validation.
func (e *escalation) Admit(_ context.Context, a *admission.Attributes) error {
	if a.Resource.Group != rbacv1.GroupName || a.Operation != admission.Create && a.Operation != admission.Update ||
		slices.Contains(a.User.Groups, auth.GroupMasters) || onlyCollects(a) {
		return nil
	}
	switch obj := a.Object.(type) {
	case *rbacv1.Role:
		return e.role(a, obj.Name, obj.Rules, false)
	case *rbacv1.ClusterRole:
		old, _ := a.Old.(*rbacv1.ClusterRole)
		return e.role(a, obj.Name, obj.Rules, gathers(obj) || old != nil && gathers(old))
	case *rbacv1.RoleBinding:
		return e.binding(a, obj.Name, obj.RoleRef)
	case *rbacv1.ClusterRoleBinding:
		return e.binding(a, obj.Name, obj.RoleRef)
	}
	return nil
}

// onlyCollects reports whether an update changes only what the garbage collector and others change who
// wait for an object's deletion.
func onlyCollects(a *admission.Attributes) bool {
	if a.Operation != admission.Update || a.Old == nil {
		return false
	}
	now, was := a.Object.DeepCopyObject().(Object), a.Old.DeepCopyObject().(Object)
	for _, o := range []Object{now, was} {
		o.SetOwnerReferences(nil)
		o.SetFinalizers(nil)
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
		o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return apiequality.Semantic.DeepEqual(runtime.Object(now), runtime.Object(was))
}

func gathers(r *rbacv1.ClusterRole) bool {
	return r.AggregationRule != nil && len(r.AggregationRule.ClusterRoleSelectors) > 0
}

var everything = []rbacv1.PolicyRule{
	{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
	{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
}

func (e *escalation) role(a *admission.Attributes, name string, rules []rbacv1.PolicyRule, aggregates bool) error {
	if e.may(a, "escalate", a.Resource.Plural, a.Name) {
		return nil
	}
	if err := e.confirm(a, rules); err != nil {
		return apierrors.NewForbidden(a.Resource.GroupResource(), name, err)
	}
	if aggregates && e.confirm(a, everything) != nil { // it may gather anything
		return apierrors.NewForbidden(a.Resource.GroupResource(), name, errors.New("must have cluster-admin privileges to use the aggregationRule"))
	}
	return nil
}

func (e *escalation) binding(a *admission.Attributes, name string, ref rbacv1.RoleRef) error {
	resource := map[string]string{"Role": "roles", "ClusterRole": "clusterroles"}[ref.Kind]
	if resource == "" {
		return fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
	}
	if e.may(a, "bind", resource, ref.Name) {
		return nil
	}
	rules, ok := e.s.Roles.RoleRules(ref, a.Namespace)
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: resource[:len(resource)-1]}, ref.Name)
	}
	if err := e.confirm(a, rules); err != nil {
		return apierrors.NewForbidden(a.Resource.GroupResource(), name, err)
	}
	return nil
}

func (e *escalation) may(a *admission.Attributes, verb, resource, name string) bool {
	return e.s.Authorizer.Authorize(&auth.Attributes{User: a.User, Verb: verb, IsResource: true,
		Group: rbacv1.GroupName, Version: "*", Resource: resource, Namespace: a.Namespace, Name: name}).Allowed()
}

// confirm returns an error that names the rights that the client doesn't hold
// (K pkg/registry/rbac/validation/rule.go: ConfirmNoEscalation).
func (e *escalation) confirm(a *admission.Attributes, rules []rbacv1.PolicyRule) error {
	held, err := e.s.Roles.Rules(a.User, a.Namespace)
	missing := rbac.Missing(held, rules)
	if len(missing) == 0 {
		return nil
	}
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s", a.User.Name, a.User.Groups, rbac.Describe(missing))
	if err != nil {
		text += fmt.Sprintf("; resolution errors: %v", []error{err})
	}
	return errors.New(text)
}
