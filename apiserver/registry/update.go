package registry

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// change returns the request as a change of an existing object.
func (c *Creation) change() *Change {
	return &Change{Request: c.Request, Manager: c.Manager, Options: c.Options}
}

// ReplaceOrCreate replaces an object, or creates it if the kind allows that (B-01, B-03).
func (s *Registry) ReplaceOrCreate(ctx context.Context, c *Creation, obj Object) (
	out *storage.Object, created bool, err error) {
	uid := obj.GetUID()
	for {
		out, err = s.Update(ctx, c.change(), func(old Object) (Object, error) {
			if uid != "" && uid != old.GetUID() { // B-09
				return nil, c.precondition(s.Root, "UID", uid, old.GetUID())
			}
			return obj.DeepCopyObject().(Object), nil
		})
		if !apierrors.IsNotFound(err) || c.Subresource != nil || !c.Resource.Strategy.CreateOnUpdate { // B-04
			return out, false, err
		}
		if uid != "" { // B-05
			return nil, false, c.precondition(s.Root, "UID", uid, "")
		}
		fresh := obj.DeepCopyObject().(Object)
		if err := ignoreRevision(fresh); err != nil {
			return nil, false, err
		}
		out, err = s.Create(ctx, c, fresh)
		if !apierrors.IsAlreadyExists(err) {
			return out, true, err
		}
		// Another client has created the object between the two steps, so the request is an update.
	}
}

// ignoreRevision removes the resourceVersion of an object that an update creates (B-05). But it must be a number
// (B-07).
func ignoreRevision(m metav1.Object) error {
	rv := m.GetResourceVersion()
	m.SetResourceVersion("")
	if rv == "" {
		return nil
	}
	_, err := strconv.ParseUint(rv, 10, 64)
	return err
}

// Apply merges an apply document into the object, or creates the object (B-51, B-60, B-61).
func (s *Registry) Apply(ctx context.Context, c *Creation, p codec.Patch) (
	out *storage.Object, created bool, err error) {
	merge := func(old Object) (Object, error) { return s.applied(c.Target, old, p) }
	out, err = s.Update(ctx, c.change(), merge)
	if !apierrors.IsNotFound(err) || c.Subresource != nil { // B-04
		return out, false, err
	}
	if out, err = s.createApplied(ctx, c, p); !apierrors.IsAlreadyExists(err) {
		return out, true, err
	}
	out, err = s.Update(ctx, c.change(), merge) // another client has created it in the meantime
	return out, false, err
}

// createApplied creates an object that does not exist. The fields that a client can't set are discarded, as for POST
// (J-02). A uid is a conflict, because it identifies another object (B-58).
func (s *Registry) createApplied(ctx context.Context, c *Creation, p codec.Patch) (*storage.Object, error) {
	obj, err := s.applied(c.Target, nil, p)
	if err != nil {
		return nil, err
	}
	if uid := obj.GetUID(); uid != "" {
		return nil, c.Conflict(
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if err := ignoreRevision(obj); err != nil {
		return nil, err
	}
	return s.Create(ctx, c, obj)
}

// applied merges the apply document into the live object. live is nil if the request creates the object.
func (s *Registry) applied(t Target, live Object, p codec.Patch) (Object, error) {
	var was runtime.Object
	if live != nil {
		was = live
	}
	merged, err := s.Fields.Apply(t.Resource, t.subName(), was, p.Bytes, p.Manager, p.Force, p.Strictness, p.Warn)
	if err != nil {
		return nil, err
	}
	if !t.Resource.Custom {
		merged.GetObjectKind().SetGroupVersionKind(t.Resource.Stored)
	}
	// The field manager has already set the defaults of a custom resource, unless the document changes no value (AM
	// pkg/util/managedfields/internal/structuredmerge.go: Apply).
	if d := t.Resource.Strategy.Default; d != nil && !t.Resource.Custom {
		d(merged)
	}
	obj, ok := merged.(Object)
	if !ok {
		return nil, fmt.Errorf("applying %s: %T is not an API object", t.Name, merged)
	}
	return obj, t.matches(obj)
}

// Patch applies a patch of another type to an object (B.5).
func (s *Registry) Patch(ctx context.Context, c *Change, p codec.Patch) (*storage.Object, error) {
	return s.Update(ctx, c, func(old Object) (Object, error) {
		if err := ctx.Err(); err != nil { // after a conflict the patch is applied again
			return nil, err
		}
		return patched(c.Target, old, p)
	})
}

// patched applies the patch to the served version of an object and converts the result back.
func patched(t Target, old Object, p codec.Patch) (Object, error) {
	var served runtime.Object = old
	if t.Resource.FromStored != nil {
		var err error
		if served, err = t.Resource.FromStored(old); err != nil {
			return nil, fmt.Errorf("converting %s: %w", t.Name, err)
		}
	}
	served.GetObjectKind().SetGroupVersionKind(t.Resource.GroupVersionKind())
	next, err := p.Apply(served, t.Resource.GroupVersionKind(), codec.CoercionOf(t.Resource))
	if err != nil {
		return nil, err
	}
	obj, err := ToStored(t.Resource, next)
	if err != nil {
		return nil, p.Unconvertible(next, err)
	}
	return obj, t.matches(obj)
}

// matches returns an error if the object of a patch has another namespace or name than the path (B-62).
func (t Target) matches(m metav1.Object) error {
	if err := t.MatchNamespace(m); err != nil {
		return err
	}
	return t.CheckName(m)
}
