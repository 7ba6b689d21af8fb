package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// checkpointsRoute is "checkpoints": a POST makes one, with the name of the query. rollbackRoute is "rollback": a POST
// goes back to one. The answers are Checkpoints.
func (s *system) checkpointsRoute() render.Route {
	return s.checkpointRoute("checkpoints", s.checkpoint)
}

func (s *system) rollbackRoute() render.Route {
	return s.checkpointRoute("rollback", s.rollback)
}

// checkpointRoute is a route that calls do with the name of the query.
func (s *system) checkpointRoute(
	path string, do func(ctx context.Context, name string) (*Checkpoint, error),
) render.Route {
	return render.Route{Path: path, Methods: []string{http.MethodPost}, LongRunning: true, Serve: func(
		w http.ResponseWriter, r *http.Request) {
		done, err := do(r.Context(), requestinfo.Query(r).Get("name"))
		var data []byte
		if err == nil {
			data, err = json.Marshal(done)
		}
		render.JSON(s.log, w, r, data, checkpointStatus(err))
	}}
}

// checkpointStatus is the response to an error, if there is one: 400 for an invalid name, 404 for an unknown one, and
// 403 for what the server does not do.
func checkpointStatus(err error) error {
	var e *CheckpointError
	if errors.Is(err, errStopping) {
		return apierrors.NewServiceUnavailable(err.Error())
	}
	if !errors.As(err, &e) {
		return err
	}
	out := metav1.Status{Status: metav1.StatusFailure, Message: e.Error(), Code: http.StatusForbidden,
		Reason: metav1.StatusReasonForbidden}
	switch e.Kind {
	case InvalidName:
		out.Code, out.Reason = http.StatusBadRequest, metav1.StatusReasonBadRequest
	case UnknownName:
		out.Code, out.Reason = http.StatusNotFound, metav1.StatusReasonNotFound
	}
	return &apierrors.StatusError{ErrStatus: out}
}
