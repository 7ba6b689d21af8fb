package registry

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// createGuards returns the current state of the namespace and of the CustomResourceDefinition of a new object. It is
// read before admission reads them, so that a later change is noticed. A dry run has no guards; the checks are the
// same.
func (s *Registry) createGuards(o *Operation, obj Object) ([]storage.Guard, error) {
	var guards []storage.Guard
	if o.Resource.Namespaced {
		// Admission rejects the request if the namespace does not exist, unless NamespaceLifecycle is disabled.
		if ns, _ := s.Cache.Get(s.Root + "/namespaces/" + o.Namespace); ns != nil {
			guards = append(guards, storage.Guard{Key: ns.Key, ModRevision: ns.Revision})
		}
	}
	if o.Resource.Origin != "" {
		d, _ := s.Cache.Get(s.Root + "/" + definitions + "/" + o.Resource.GroupResource().String())
		switch {
		case d == nil || d.Meta.UID != o.Resource.Origin:
			return nil, status.ErrNoRoute // removed or replaced since the path was resolved
		case d.Meta.Deleting(): // F-11, also for objects that an apply would create
			return nil, apierrors.NewForbidden(o.Resource.GroupResource(), obj.GetName(), errDefinitionGoes)
		}
		guards = append(guards, storage.Guard{Key: d.Key, ModRevision: d.Revision})
	}
	if o.DryRun {
		return nil, nil
	}
	return guards, nil
}

// definitions is the key prefix of CustomResourceDefinitions.
const definitions = "apiextensions.k8s.io/customresourcedefinitions"

// errDefinitionGoes is the error for a create while its CustomResourceDefinition is being deleted (F-11).
var errDefinitionGoes = errors.New("create not allowed while custom resource definition is terminating")
