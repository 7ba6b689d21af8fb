package admission

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

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/authorization/rbac"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Escalation prevents privilege escalation: a client can't grant permissions that it does not have, unless it may
// escalate the role, or bind to the role. The check is a part of the authorization mode RBAC, so it can't be disabled.
// It runs after all mutating plugins (K pkg/registry/rbac/*/policybased/storage.go).
type Escalation struct {
	// Authorize decides whether the client has a permission.
	Authorize func(*authorization.Attributes) authorization.Decision
	// Rules returns a user's rules in a namespace. The error names roles that could not be resolved.
	Rules func(u authorization.User, namespace string) ([]rbacv1.PolicyRule, error)
	// RoleRules returns the rules of a role, and reports whether it exists.
	RoleRules func(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, bool)
}

// Admit implements Mutator, but changes nothing. The check is not in a method Validate, because upstream makes it
// before it validates the object.
func (e *Escalation) Admit(_ context.Context, a *Attributes) error {
	if a.Resource.Group != rbacv1.GroupName || a.Operation != Create && a.Operation != Update ||
		slices.Contains(a.User.Groups, authorization.GroupMasters) || changesOnlyGCFields(a) {
		return nil
	}
	switch obj := a.Object.(type) {
	case *rbacv1.Role:
		return e.checkRole(a, obj.Name, obj.Rules, false)
	case *rbacv1.ClusterRole:
		old, _ := a.Old.(*rbacv1.ClusterRole)
		return e.checkRole(a, obj.Name, obj.Rules, hasAggregationRule(obj) || old != nil && hasAggregationRule(old))
	case *rbacv1.RoleBinding:
		return e.checkBinding(a, obj.Name, obj.RoleRef)
	case *rbacv1.ClusterRoleBinding:
		return e.checkBinding(a, obj.Name, obj.RoleRef)
	}
	return nil
}

// changesOnlyGCFields reports whether an update changes only fields that the garbage collector sets, such as finalizers
// and owner references (K pkg/registry/rbac/helpers.go: IsOnlyMutatingGCFields).
func changesOnlyGCFields(a *Attributes) bool {
	if a.Operation != Update || a.Old == nil {
		return false
	}
	now, was := a.Object.DeepCopyObject().(resources.Object), a.Old.DeepCopyObject().(resources.Object)
	for _, o := range []resources.Object{now, was} {
		o.SetOwnerReferences(nil)
		o.SetFinalizers(nil)
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
		o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return apiequality.Semantic.DeepEqual(runtime.Object(now), runtime.Object(was))
}

func hasAggregationRule(r *rbacv1.ClusterRole) bool {
	return r.AggregationRule != nil && len(r.AggregationRule.ClusterRoleSelectors) > 0
}

var everything = []rbacv1.PolicyRule{
	{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
	{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
}

func (e *Escalation) checkRole(a *Attributes, name string, rules []rbacv1.PolicyRule, aggregates bool) error {
	if e.may(a, "escalate", a.Resource.Plural, a.Name) {
		return nil
	}
	if err := e.confirm(a, rules); err != nil {
		return apierrors.NewForbidden(a.Resource.GroupResource(), name, err)
	}
	if aggregates && e.confirm(a, everything) != nil { // the aggregated roles may have any rule
		return apierrors.NewForbidden(a.Resource.GroupResource(), name,
			errors.New("must have cluster-admin privileges to use the aggregationRule"))
	}
	return nil
}

func (e *Escalation) checkBinding(a *Attributes, name string, ref rbacv1.RoleRef) error {
	resource := map[string]string{"Role": "roles", "ClusterRole": "clusterroles"}[ref.Kind]
	if resource == "" {
		return fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
	}
	if e.may(a, "bind", resource, ref.Name) {
		return nil
	}
	rules, ok := e.RoleRules(ref, a.Namespace)
	if !ok {
		role := schema.GroupResource{Group: rbacv1.GroupName, Resource: resource[:len(resource)-1]}
		return apierrors.NewNotFound(role, ref.Name)
	}
	if err := e.confirm(a, rules); err != nil {
		return apierrors.NewForbidden(a.Resource.GroupResource(), name, err)
	}
	return nil
}

func (e *Escalation) may(a *Attributes, verb, resource, name string) bool {
	return e.Authorize(&authorization.Attributes{User: a.User, Verb: verb, IsResource: true,
		Group: rbacv1.GroupName, Version: "*", Resource: resource, Namespace: a.Namespace, Name: name}).Allowed()
}

// confirm returns an error if the client lacks a permission of the rules. The error names the missing ones (K
// pkg/registry/rbac/validation/rule.go: ConfirmNoEscalation).
func (e *Escalation) confirm(a *Attributes, rules []rbacv1.PolicyRule) error {
	held, err := e.Rules(a.User, a.Namespace)
	missing := rbac.Missing(held, rules)
	if len(missing) == 0 {
		return nil
	}
	message := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		a.User.Name, a.User.Groups, rbac.Describe(missing))
	if err != nil {
		message += fmt.Sprintf("; resolution errors: %v", []error{err})
	}
	return errors.New(message)
}
