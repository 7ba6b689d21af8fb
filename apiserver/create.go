package apiserver

import "net/http"

// serveCreate is POST on a collection.
func (s *Server) serveCreate(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	o, err := createOptions(q.r.URL.Query())
	if err != nil {
		return err
	}
	if q.res.Collection == "" {
		return s.serveVirtual(q, x, o)
	}
	obj, err := q.input(o.FieldValidation)
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
