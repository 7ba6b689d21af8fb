package apiserver

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/patch"
	"github.com/kubecascade/kubecascade/storage"
)

// serveApply is PATCH with an apply document: it merges the document into the object by who owns
// which field, or creates the object (B-51, B-60, B-61).
func (s *Server) serveApply(q *request, x *rendering, p patch.Patch) error {
	q.tracked, q.mayCreate = true, q.judgeCreate
	code := http.StatusOK
	out, err := s.registry.update(q.r.Context(), &q.op, func(old object) (object, error) { return s.registry.applied(&q.op, old, p) })
	if apierrors.IsNotFound(err) && q.sub == nil { // B-04
		code = http.StatusCreated
		if out, err = s.createByApply(q, p); apierrors.IsAlreadyExists(err) {
			// Somebody created it between the two steps: it is an update after all.
			code = http.StatusOK
			out, err = s.registry.update(q.r.Context(), &q.op, func(old object) (object, error) { return s.registry.applied(&q.op, old, p) })
		}
	}
	if err != nil {
		return err
	}
	return q.answer(x, code, out)
}

// applied merges the document into an object; live is nil if it creates one.
func (s *registry) applied(o *op, live object, p patch.Patch) (object, error) {
	var was runtime.Object
	if live != nil {
		was = live
	}
	merged, err := s.fields.Apply(o.res, o.subName(), was, p.Bytes, o.manager, p.Force, p.Strictness, p.Warn)
	if err != nil {
		return nil, err
	}
	if !o.res.Direct {
		merged.GetObjectKind().SetGroupVersionKind(o.res.Stored)
	}
	// Of a custom resource the field manager has filled in the defaults, unless the document changes no value (AM
	// pkg/util/managedfields/internal/structuredmerge.go: Apply).
	if d := o.res.Strategy.Default; d != nil && !o.res.Custom {
		d(merged)
	}
	obj, ok := merged.(object)
	if !ok {
		return nil, fmt.Errorf("applying %s: %T is no object", o.name, merged)
	}
	if err := matchNamespace(o.res, obj, o.namespace); err != nil {
		return nil, err
	}
	return obj, o.checkName(obj)
}

// createByApply makes an object that isn't there. What a client may not choose for a new object is
// discarded as for POST (J-02); a uid means another object (B-58).
func (s *Server) createByApply(q *request, p patch.Patch) (*storage.Object, error) {
	obj, err := s.registry.applied(&q.op, nil, p)
	if err != nil {
		return nil, err
	}
	if uid := obj.GetUID(); uid != "" {
		return nil, q.conflict(fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if err := ignoreRevision(obj); err != nil {
		return nil, err
	}
	return s.registry.create(q.r.Context(), &q.op, obj)
}
