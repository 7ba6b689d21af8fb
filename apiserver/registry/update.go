package registry

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// ReplaceOrCreate replaces an object, or creates it if the kind allows that (B-01, B-03).
func (s *Registry) ReplaceOrCreate(ctx context.Context, o *Operation, obj Object) (
	out *storage.Object, created bool, err error) {
	uid := obj.GetUID()
	for {
		out, err = s.Update(ctx, o, func(old Object) (Object, error) {
			if uid != "" && uid != old.GetUID() { // B-09
				return nil, o.UidPrecondition(s.Root, obj, old.GetUID())
			}
			return obj.DeepCopyObject().(Object), nil
		})
		if !apierrors.IsNotFound(err) || o.Subresource != nil || !o.Resource.Strategy.CreateOnUpdate { // B-04
			return out, false, err
		}
		if uid != "" { // B-05
			return nil, false, o.UidPrecondition(s.Root, obj, "")
		}
		fresh := obj.DeepCopyObject().(Object)
		if err := IgnoreRevision(fresh); err != nil {
			return nil, false, err
		}
		out, err = s.Create(ctx, o, fresh)
		if !apierrors.IsAlreadyExists(err) {
			return out, true, err
		}
		// It was created between the two steps, so the request is an update.
	}
}

// IgnoreRevision removes the resourceVersion of an object that an update creates (B-05). It must still be a number
// (B-07).
func IgnoreRevision(m metav1.Object) error {
	rv := m.GetResourceVersion()
	m.SetResourceVersion("")
	if rv == "" {
		return nil
	}
	_, err := strconv.ParseUint(rv, 10, 64)
	return err
}

// UidPrecondition is the error B-09.
func (o *Operation) UidPrecondition(root string, obj metav1.Object, stored any) error {
	return o.precondition(root, "UID", obj.GetUID(), stored)
}

// precondition is the error of upstream's storage, which compares uids before anything else. The key has no root in a
// dry run (AS registry/dryrun.go).
func (o *Operation) precondition(root, what string, want, stored any) error {
	if o.DryRun {
		root = ""
	}
	return o.Conflict(fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: Precondition failed: %s in precondition: %v, %s in object meta: %v",
		o.Key(root), what, want, what, stored))
}
