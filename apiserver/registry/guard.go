package registry

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// Create stores a new object. obj is in the stored version. The write is conditional on what the
// object will live in being as admission saw it, so that nothing lands in a namespace, or under a
// definition, that was emptied meanwhile; if it has changed, all is done again.
func (s *Registry) Create(ctx context.Context, o *Operation, obj Object) (*storage.Object, error) {
	for {
		guards, err := s.createGuards(o, obj)
		if err != nil {
			return nil, err
		}
		if len(guards) == 0 {
			return s.createOnce(ctx, o, obj)
		}
		once := *o
		once.guards = append(slices.Clip(o.guards), guards...)
		// The first attempt gets the original: a Job's labels may be its template's (batch/job.go).
		again := obj.DeepCopyObject().(Object)
		out, err := s.createOnce(ctx, &once, obj)
		if !lostBy(err, guards) {
			return out, err
		}
		if err := s.Fresh(ctx); err != nil {
			return nil, err
		}
		obj = again
	}
}

// createGuards are what a new object will live in, as it is now. It is read before admission looks at it, so
// a change between the two is noticed. A dry run has none, and is rejected all the same.
func (s *Registry) createGuards(o *Operation, obj Object) ([]storage.Guard, error) {
	var guards []storage.Guard
	if o.Resource.Namespaced {
		// Admission rejects the request if there is none, unless NamespaceLifecycle is disabled.
		if ns, _ := s.Cache.Get(s.Root + "/namespaces/" + o.Namespace); ns != nil {
			guards = append(guards, storage.Guard{Key: ns.Key, ModRevision: ns.Revision})
		}
	}
	if o.Resource.Origin != "" {
		d, _ := s.Cache.Get(s.Root + "/" + definitions + "/" + o.Resource.GroupResource().String())
		switch {
		case d == nil || d.Meta.UID != o.Resource.Origin:
			return nil, status.ErrNoRoute // it went, or made room for another one, since the path was looked up
		case d.Meta.Deleting(): // F-11, of objects that an apply would make too
			return nil, apierrors.NewForbidden(o.Resource.GroupResource(), obj.GetName(), errDefinitionGoes)
		}
		guards = append(guards, storage.Guard{Key: d.Key, ModRevision: d.Revision})
	}
	if o.DryRun {
		return nil, nil
	}
	return guards, nil
}

// definitions is where definitions are stored.
const definitions = "apiextensions.k8s.io/customresourcedefinitions"

// errDefinitionGoes is why no more objects of a definition may be made (F-11).
var errDefinitionGoes = errors.New("create not allowed while custom resource definition is terminating")
