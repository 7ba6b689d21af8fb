package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// serveDelete is DELETE of one object (section C).
func (a *API) serveDelete(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	opts, err := req.deleteOptions()
	if err != nil {
		return err
	}
	req.recordOptions(opts)
	req.Options, req.DryRun = opts, registry.IsDryRun(opts.DryRun)
	if ignoresReadError(opts) {
		return a.deleteMalformed(req, rendering)
	}
	req.WarnOfPolicy(opts)
	d, err := a.registry.Delete(req.r.Context(), &req.Operation, opts)
	if err != nil {
		return err
	}
	switch {
	case !d.Removed && d.Accepted: // C-61
		return req.answer(rendering, http.StatusAccepted, d.Object)
	case !d.Removed || req.Resource.Delete.Returned: // C-60, C-62
		return req.answer(rendering, http.StatusOK, d.Object)
	}
	return req.answerOther(rendering, http.StatusOK, req.RemovedStatus(d.Object))
}
