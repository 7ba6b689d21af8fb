package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// serveUpdate is PUT on an object or on a subresource that is a part of it (B.1).
func (s *Server) serveUpdate(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	b, o, err := q.replacement()
	if err != nil {
		return err
	}
	obj, err := q.stored(b)
	if err != nil {
		return err
	}
	if err := matchNamespace(q.res, obj, q.namespace); err != nil { // A-09 before B-02
		return err
	}
	if err := q.checkName(obj); err != nil {
		return err
	}
	dedupOwners(obj, false, q.warn.Add)
	q.dryRun, q.manager, q.mayCreate = isDryRun(o.DryRun), q.managerOr(o.FieldManager), q.judgeCreate
	out, created, err := s.registry.replaceOrCreate(q.r.Context(), &q.op, obj)
	if err != nil {
		return err
	}
	if created {
		return q.answer(x, http.StatusCreated, out)
	}
	return q.answer(x, http.StatusOK, out)
}

// replaceOrCreate replaces an object, or creates it where the kind allows that (B-01, B-03).
func (s *registry) replaceOrCreate(ctx context.Context, o *op, obj object) (out *storage.Object, created bool, err error) {
	uid := obj.GetUID()
	for {
		out, err = s.update(ctx, o, func(old object) (object, error) {
			if uid != "" && uid != old.GetUID() { // B-09
				return nil, o.uidPrecondition(s.root, obj, old.GetUID())
			}
			return obj.DeepCopyObject().(object), nil
		})
		if !apierrors.IsNotFound(err) || o.sub != nil || !o.res.Strategy.CreateOnUpdate { // B-04
			return out, false, err
		}
		if uid != "" { // B-05
			return nil, false, o.uidPrecondition(s.root, obj, "")
		}
		fresh := obj.DeepCopyObject().(object)
		if err := ignoreRevision(fresh); err != nil {
			return nil, false, err
		}
		out, err = s.create(ctx, o, fresh)
		if !apierrors.IsAlreadyExists(err) {
			return out, true, err
		}
		// Somebody created it between the two steps: it is an update after all.
	}
}

// ignoreRevision drops the revision that is named for an object which an update creates (B-05); it must
// be a number all the same (B-07).
func ignoreRevision(m metav1.Object) error {
	rv := m.GetResourceVersion()
	m.SetResourceVersion("")
	if rv == "" {
		return nil
	}
	_, err := strconv.ParseUint(rv, 10, 64)
	return err
}

// uidPrecondition is B-09.
func (o *op) uidPrecondition(root string, obj metav1.Object, stored any) error {
	return o.precondition(root, "UID", obj.GetUID(), stored)
}

// precondition words what the storage compares before anything else. A dry run has not come to where
// keys get their root (AS registry/dryrun.go).
func (o *op) precondition(root, what string, want, stored any) error {
	if o.dryRun {
		root = ""
	}
	return o.conflict(fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: %s in precondition: %v, %s in object meta: %v",
		o.key(root), what, want, what, stored))
}
