package apiserver

import "net/http"

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
	obj, err := q.stored(b)
	if err != nil {
		return err
	}
	q.dryRun, q.manager = isDryRun(o.DryRun), q.managerOr(o.FieldManager)
	out, err := s.registry.create(q.r.Context(), &q.op, obj)
	if err != nil {
		return err
	}
	return q.answer(x, http.StatusCreated, out)
}
