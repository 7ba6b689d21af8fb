package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// serveDelete is DELETE of one object (section C).
func (a *API) serveDelete(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	o, err := a.deleteOptions(q.r)
	if err != nil {
		return err
	}
	q.recordOptions(o)
	if ignoresReadError(o) {
		return a.deleteMalformed(q, x)
	}
	q.Options, q.DryRun = o, registry.IsDryRun(o.DryRun)
	q.WarnOfPolicy(o)
	d, err := a.registry.Delete(q.r.Context(), &q.Operation, o)
	if err != nil {
		return err
	}
	switch {
	case !d.Removed && d.Accepted: // C-61
		return q.answer(x, http.StatusAccepted, d.Object)
	case !d.Removed || q.Resource.Delete.Returned: // C-60, C-62
		return q.answer(x, http.StatusOK, d.Object)
	}
	return q.answerOther(x, http.StatusOK, q.RemovedStatus(d.Object))
}
