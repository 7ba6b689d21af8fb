package apiserver

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// serveCreate is POST on a collection.
func (s *Server) serveCreate(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	b, o, err := q.creation()
	if err != nil {
		return err
	}
	if q.res.Collection == "" {
		return s.serveVirtual(q, x, b, o)
	}
	if q.res.Terminating {
		return q.refuseTerminating(b)
	}
	obj, err := q.stored(b)
	if err != nil {
		return err
	}
	q.dryRun, q.manager = isDryRun(o.DryRun), q.managerOr(o.FieldManager)
	out, err := s.create(q.r.Context(), &q.op, obj)
	if err != nil {
		return err
	}
	return q.answer(x, http.StatusCreated, out)
}

// refuseTerminating answers for a resource whose definition is being deleted (F-11).
func (q *request) refuseTerminating(b body) error {
	obj, err := q.stored(b)
	if err != nil {
		return err
	}
	return apierrors.NewForbidden(q.res.GroupResource(), obj.GetName(), errors.New("create not allowed while custom resource definition is terminating"))
}
