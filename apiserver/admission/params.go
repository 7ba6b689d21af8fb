package admission

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Params ensures that a client can't use a policy to read objects that it may not read itself. The client needs
// permission to read the paramKind of a policy, and the paramRef of a binding (M-09, M-10; K
// pkg/registry/admissionregistration/*policy*/authz.go). The plugin can't be disabled, because it is a part of the
// validation of policies in upstream. It checks only valid objects.
type Params struct {
	// Authorize decides whether the client has a permission.
	Authorize func(*authorization.Attributes) authorization.Decision
	// Resources returns the resources that serve a kind in discovery.
	Resources func(schema.GroupVersionKind) []*resources.Resource
	// Policy returns a stored policy of a resource of admissionregistration.k8s.io/v1, or nil if it does not exist.
	Policy func(ctx context.Context, r schema.GroupVersionResource, name string) (runtime.Object, error)
}

// ParamsOf returns the plugin with its look-ups.
func ParamsOf(l Lookup) *Params {
	return &Params{
		Authorize: l.Authorize, Resources: l.Kinds,
		Policy: func(ctx context.Context, r schema.GroupVersionResource, name string) (runtime.Object, error) {
			return l.Get(ctx, r, "", name, 0)
		},
	}
}

// Validate implements Validator.
func (p *Params) Validate(ctx context.Context, a *Attributes) error {
	if a.Resource.Group != admissionv1.GroupName || a.Subresource != "" ||
		a.Operation != Create && a.Operation != Update ||
		slices.Contains(a.User.Groups, authorization.GroupMasters) {
		return nil
	}
	if kind := paramKind(a.Object); kind != nil {
		if old := paramKind(a.Old); old != nil && *old == *kind {
			return nil
		}
		return p.kind(a, kind)
	}
	if b := paramRef(a.Object); b != nil {
		return p.binding(ctx, a, b)
	}
	return nil
}

// paramKind returns the paramKind of a policy. It is nil if there is none, and for other objects.
func paramKind(obj runtime.Object) *admissionv1.ParamKind {
	switch p := obj.(type) {
	case *admissionv1.ValidatingAdmissionPolicy:
		return p.Spec.ParamKind
	case *admissionv1.MutatingAdmissionPolicy:
		return p.Spec.ParamKind
	}
	return nil
}

// reference is the paramRef of a binding.
type reference struct {
	// policies is the resource of the binding's policy.
	policies, policy string
	namespace, name  string
	mutating         bool
}

// paramRef returns the reference of a binding. It is nil if there is none, and for other objects.
func paramRef(obj runtime.Object) *reference {
	switch b := obj.(type) {
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		if r := b.Spec.ParamRef; r != nil {
			return &reference{"validatingadmissionpolicies", b.Spec.PolicyName, r.Namespace, r.Name, false}
		}
	case *admissionv1.MutatingAdmissionPolicyBinding:
		if r := b.Spec.ParamRef; r != nil {
			return &reference{"mutatingadmissionpolicies", b.Spec.PolicyName, r.Namespace, r.Name, true}
		}
	}
	return nil
}

// kind returns an error unless the client may read all objects of a kind.
func (p *Params) kind(a *Attributes, k *admissionv1.ParamKind) error {
	need := p.resource(k)
	need.User, need.Verb, need.Namespace, need.Name = a.User, "get", "*", "*"
	if p.Authorize(need).Allowed() {
		return nil
	}
	return rejected(a, "paramKind", fmt.Sprintf(
		`user %v must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`,
		&a.User, k.Kind, k.APIVersion,
	))
}

// binding returns an error unless the client may read the object of a binding's paramRef. Like upstream, which compares
// pointers, it also checks updates that don't change the reference.
func (p *Params) binding(ctx context.Context, a *Attributes, r *reference) error {
	policy, err := p.Policy(ctx, admissionv1.SchemeGroupVersion.WithResource(r.policies), r.policy)
	if err != nil {
		return &LookupError{What: "looking up the policy of the binding", Err: err}
	}
	need := p.resource(paramKind(policy))
	need.User, need.Verb, need.Namespace, need.Name = a.User, "get", r.namespace, r.name
	if r.mutating && r.name == "" {
		need.Verb = "list"
	}
	if p.Authorize(need).Allowed() {
		return nil
	}
	user, verb := fmt.Sprint(&a.User), need.Verb
	if r.mutating { // upstream swaps the two (O-07)
		user, verb = verb, user
	}
	return rejected(a, "paramRef", fmt.Sprintf(
		`user %s does not have "%s" permission on the object referenced by paramRef`, user, verb,
	))
}

// resource returns the resource of a kind, with "*" for its unknown parts.
func (p *Params) resource(k *admissionv1.ParamKind) *authorization.Attributes {
	all := &authorization.Attributes{IsResource: true, Group: "*", Version: "*", Resource: "*"}
	if k == nil {
		return all
	}
	gv, err := schema.ParseGroupVersion(k.APIVersion)
	if err != nil {
		return all
	}
	all.Group, all.Version = gv.Group, gv.Version
	for _, r := range p.Resources(gv.WithKind(k.Kind)) {
		if r.Kind == k.Kind {
			all.Resource = r.Plural
			break
		}
	}
	return all
}

// rejected returns the error 422 for a field of spec.
func rejected(a *Attributes, name, why string) error {
	return invalid.New(
		schema.GroupKind{Group: a.Resource.Group, Kind: a.Resource.Kind}, a.Name,
		field.ErrorList{field.Forbidden(field.NewPath("spec", name), why)},
	)
}
