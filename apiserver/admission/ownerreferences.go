package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// OwnerReferences is OwnerReferencesPermissionEnforcement. A client that changes an object's owners needs permission to
// delete the object, because the change may cause its deletion. A client that sets blockOwnerDeletion needs permission
// to update the owner's finalizers (G-01 to G-12).
type OwnerReferences struct {
	// Authorize decides whether the client has a permission.
	Authorize func(*authorization.Attributes) authorization.Decision
	// Resources returns all resources that serve the kind.
	Resources func(schema.GroupVersionKind) []*resources.Resource
}

// Validate implements Validator.
func (p *OwnerReferences) Validate(_ context.Context, a *Attributes) error {
	if a.Operation != Create && a.Operation != Update || isPodStatus(a) { // G-01
		return nil
	}
	now, was := ownersOf(a.Object), ownersOf(a.Old)
	// G-02
	if slices.EqualFunc(now, was, func(a, b metav1.OwnerReference) bool { return apiequality.Semantic.DeepEqual(a, b) }) {
		return nil
	}
	if a.Operation == Update { // G-03, G-04
		d := p.Authorize(&authorization.Attributes{User: a.User, Verb: "delete", IsResource: true,
			Namespace: pathNamespace(a),
			Name:      a.Name,
			Group:     a.Resource.Group, Version: a.Resource.Version, Resource: a.Resource.Plural, Subresource: a.Subresource})
		if !d.Allowed() {
			return fmt.Errorf("cannot set an ownerRef on a resource you can't delete: %v, <nil>", d.Reason())
		}
	}
	blocking := newlyBlocking(now, was)
	// G-06
	if len(blocking) == 0 || p.mayFinalize(a, "*", &resources.Resource{
		Served: resources.Served{Group: "*", Version: "*"},
		Plural: "*"}).Allowed() {
		return nil
	}
	for _, ref := range blocking {
		if err := p.mayBlock(a, ref); err != nil {
			return err
		}
	}
	return nil
}

func isPodStatus(a *Attributes) bool {
	return a.Resource.Group == "" && a.Resource.Plural == "pods" && a.Subresource == "status"
}

func ownersOf(obj runtime.Object) []metav1.OwnerReference {
	if obj == nil {
		return nil
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil // a Scale or a Binding has no owners
	}
	return m.GetOwnerReferences()
}

// newlyBlocking returns the references that block now and did not block before (G-05). References are compared by uid.
// If several old ones have the same uid, the last one counts.
func newlyBlocking(now, was []metav1.OwnerReference) (out []metav1.OwnerReference) {
	blocked := map[types.UID]bool{}
	for _, r := range was {
		blocked[r.UID] = blocks(r)
	}
	for _, r := range now {
		if blocks(r) && !blocked[r.UID] {
			out = append(out, r)
		}
	}
	return out
}

func blocks(r metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// mayBlock checks the permission for one reference, whether or not the owner exists (G-09).
func (p *OwnerReferences) mayBlock(a *Attributes, ref metav1.OwnerReference) error {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	var owners []*resources.Resource
	if err == nil {
		if owners = p.Resources(gv.WithKind(ref.Kind)); len(owners) == 0 {
			err = &meta.NoKindMatchError{
				GroupKind: schema.GroupKind{Group: gv.Group, Kind: ref.Kind}, SearchedVersions: []string{gv.Version},
			}
		}
	}
	if err != nil { // G-08
		return fmt.Errorf(
			"cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion %v Kind %v: %v",
			ref.APIVersion, ref.Kind, err,
		)
	}
	for _, owner := range owners { // G-07
		if d := p.mayFinalize(a, ref.Name, owner); !d.Allowed() {
			return errors.New(
				"cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: " +
					d.Reason() + ", <nil>",
			)
		}
	}
	return nil
}

func (p *OwnerReferences) mayFinalize(a *Attributes, name string, owner *resources.Resource) authorization.Decision {
	d := &authorization.Attributes{User: a.User, Verb: "update", IsResource: true, Name: name,
		Group: owner.Group, Version: owner.Version, Resource: owner.Plural, Subresource: "finalizers"}
	if owner.Namespaced {
		d.Namespace = pathNamespace(a)
	}
	return p.Authorize(d)
}

// pathNamespace returns the namespace in the request's path. For an update of a namespace it is the name (AS
// pkg/endpoints/request/requestinfo.go: NewRequestInfo).
func pathNamespace(a *Attributes) string {
	if a.Operation == Update && a.Resource.Group == "" && a.Resource.Plural == "namespaces" {
		return a.Name
	}
	return a.Namespace
}
