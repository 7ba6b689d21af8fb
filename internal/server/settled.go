package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

const (
	// settleTime is the timeout of a request for settled without the parameter, and mostSettleTime the maximum.
	settleTime, mostSettleTime = 30 * time.Second, 10 * time.Minute
	// mostSettling is the maximum number of requests for settled that wait at a time.
	mostSettling = 128
)

// settledAnswer is the response of settled.
type settledAnswer struct {
	Settled  bool  `json:"settled"`
	Revision int64 `json:"revision"`
	// Waits is the later work of the controllers, the earliest first; OmittedWaits is the number of further entries.
	Waits        []settledWait `json:"waits"`
	OmittedWaits int           `json:"omittedWaits,omitempty"`
}

// settledWait is a reconcile.Wait. Object and Message are absent if the user may not list the object's type.
type settledWait struct {
	Controller string         `json:"controller"`
	Object     *settledObject `json:"object,omitempty"`
	Until      metav1.Time    `json:"until"`
	Reason     string         `json:"why"`
	Message    string         `json:"message,omitempty"`
}

// settledObject names an object.
type settledObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// errStopping ends Settle when the server ends.
var errStopping = errors.New("the server is shutting down")

// Settle calls controllers.Set.Settle, and ends when the server ends.
func (s *Server) Settle(ctx context.Context, revision int64) (*controllers.Settled, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(errStopping) })()
	return s.controllers.Settle(ctx, revision)
}

// settledRoute returns the route of settled. Its handler runs only after the start of the server.
func (s *Server) settledRoute() render.Route {
	waiting := make(chan struct{}, mostSettling)
	return render.Route{Path: "settled", LongRunning: true, Serve: func(w http.ResponseWriter, r *http.Request) {
		select {
		case waiting <- struct{}{}:
			defer func() { <-waiting }()
		default:
			render.Error(s.log, w, r, apierrors.NewTooManyRequests(
				fmt.Sprintf("%d requests wait for settled already", mostSettling), 1))
			return
		}
		answer, err := s.answerSettled(r)
		var data []byte
		if err == nil {
			data, err = json.MarshalIndent(answer, "", "  ")
		}
		render.JSON(s.log, w, r, data, err)
	}}
}

// answerSettled waits until everything has settled.
func (s *Server) answerSettled(r *http.Request) (*settledAnswer, error) {
	revision, limit, err := settledParameters(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	got, err := s.Settle(ctx, revision)
	may := s.mayList(requestinfo.UserOf(r))
	if unsettled := new(controllers.UnsettledError); errors.As(err, &unsettled) {
		return nil, unsettledStatus(unsettled, may)
	}
	if err != nil {
		return nil, err
	}
	out := &settledAnswer{Settled: true, Revision: got.Revision, Waits: []settledWait{}, OmittedWaits: got.Waits.Omitted}
	for _, w := range got.Waits.Items {
		one := settledWait{Controller: w.Controller, Until: metav1.NewTime(w.Until), Reason: w.Why}
		if may(w.Object) {
			one.Object = shown(w.Object)
			if w.Err != nil {
				one.Message = w.Err.Error()
			}
		}
		out.Waits = append(out.Waits, one)
	}
	return out, nil
}

// settledParameters reads the query: timeout as kube-apiserver reads it, or a number of seconds, and resourceVersion.
func settledParameters(r *http.Request) (revision int64, limit time.Duration, err error) {
	q := requestinfo.Query(r)
	if v := q.Get("resourceVersion"); v != "" {
		if revision, err = strconv.ParseInt(v, 10, 64); err != nil || revision < 0 {
			return 0, 0, badRequest("invalid resourceVersion specified in the request URL - %q is not a number", v)
		}
	}
	limit = settleTime
	if v := q.Get("timeout"); v != "" {
		seconds, err := strconv.ParseUint(v, 10, 31)
		if limit = time.Duration(seconds) * time.Second; err != nil {
			if limit, err = time.ParseDuration(v); err != nil {
				return 0, 0, badRequest("invalid timeout specified in the request URL - %s", err)
			}
		}
	}
	if limit < 0 || limit > mostSettleTime {
		return 0, 0, badRequest(
			"invalid timeout specified in the request URL - %s is not between 0 and %s", limit, mostSettleTime)
	}
	return revision, limit, nil
}

func badRequest(format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf(format, args...))
}

// shown returns the object of an answer; nil if there is none.
func shown(o reconcile.Object) *settledObject {
	if o == (reconcile.Object{}) {
		return nil
	}
	return &settledObject{schema.GroupVersion{Group: o.Group, Version: o.Version}.String(), o.Kind, o.Namespace, o.Name}
}

// mayList returns a function that reports whether the user may list the type of an object in its namespace. The
// function caches decisions.
func (s *Server) mayList(u authorization.User) func(reconcile.Object) bool {
	verdicts := map[reconcile.Object]bool{}
	return func(o reconcile.Object) bool {
		of := reconcile.Object{Group: o.Group, Version: o.Version, Resource: o.Resource, Namespace: o.Namespace}
		may, known := verdicts[of]
		if !known {
			may = s.api.Authorizer().Authorize(&authorization.Attributes{
				User: u, Verb: "list", IsResource: true, Group: o.Group, Version: o.Version, Resource: o.Resource,
				Namespace: o.Namespace,
			}).Allowed()
			verdicts[of] = may
		}
		return may
	}
}

// unsettledStatus returns the response when it isn't settled: that of any request after its timeout, with the current
// work as causes. The field of a cause is the controller.
func unsettledStatus(e *controllers.UnsettledError, may func(reconcile.Object) bool) error {
	if !errors.Is(e.Cause, context.DeadlineExceeded) && !errors.Is(e.Cause, context.Canceled) {
		return apierrors.NewServiceUnavailable(e.Cause.Error())
	}
	out := apierrors.NewTimeoutError(fmt.Sprintf("not settled at revision %d", e.Revision), 0)
	for _, w := range e.Works.Items {
		message := w.What
		if may(w.Object) && w.Object != (reconcile.Object{}) {
			message += ": " + controllers.DescribeObject(w.Object)
		}
		out.ErrStatus.Details.Causes = append(out.ErrStatus.Details.Causes,
			metav1.StatusCause{Type: causeWorking, Message: message, Field: w.Controller})
	}
	if n := e.Works.Omitted; n > 0 {
		out.ErrStatus.Details.Causes = append(out.ErrStatus.Details.Causes,
			metav1.StatusCause{Type: causeWorking, Message: fmt.Sprintf("%d more", n)})
	}
	return out
}

// causeWorking is the reason of the causes.
const causeWorking metav1.CauseType = "Working"
