package endpoints

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/faults"
	"github.com/kubecascade/kubecascade/storage"
)

// Fault is the filter that injects the faults of plans. The handlers of watches and lists execute the effects on them.
func (a *API) Fault(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.Faults.Idle() {
			next.ServeHTTP(w, r)
			return
		}
		req := r.Context().Value(requestKey{}).(*request)
		req.w, req.r = w, r
		q := req.faulty()
		if req.shot, req.decided = a.decide(&req.Request, q); req.shot == nil {
			next.ServeHTTP(w, r)
			return
		}
		before, after := a.execute(r.Context(), req.shot, req.Target, q.Name)
		from, _, err := decodeToken(requestinfo.Query(r).Get("continue"), "/")
		if err == nil && before == storage.ErrCompacted { // H-16
			before = expiredToken(from, "/")
		}
		switch {
		case before == errClosed:
			panic(http.ErrAbortHandler)
		case before != nil:
			render.Error(a.Log, w, r, before)
		case after != nil:
			rec := render.RecorderOf(r)
			rec.Lost = true
			next.ServeHTTP(lost{w.Header(), rec}, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// lost is the response to a request whose answer is lost. Its status is recorded.
type lost struct {
	header http.Header
	record *render.Recorder
}

func (l lost) Header() http.Header         { return l.header }
func (l lost) Write(b []byte) (int, error) { return len(b), nil }
func (l lost) WriteHeader(code int)        { l.record.Begin(code) }

// errClosed is the error of a request whose connection is closed without an answer.
var errClosed = errors.New("the connection was closed by an injected fault")

// decide returns the fault that a request meets, and records it.
func (a *API) decide(r *registry.Request, q *faults.Request) (shot *faults.Shot, newest int) {
	q.Revision = a.Registry.Cache.Revision()
	if shot, newest = a.Faults.Decide(q, time.Now()); shot != nil {
		a.Metrics.Faults.WithLabelValues(shot.Name()).Inc()
		if q.After == 0 { // an annotation can't be replaced by a later plan's
			r.Audit.Annotate("kubecascade.io/fault", shot.Where)
		}
		a.Log.Info("injected a fault", "fault", shot.Where, "verb", q.Verb, "resource", q.Resource, "name", q.Name)
	}
	return shot, newest
}

// execute waits, or returns the error with which the request fails before or after its execution. The removal of the
// plan and the stop of the server end the delay.
func (a *API) execute(ctx context.Context, shot *faults.Shot, t registry.Target, name string) (before, after error) {
	switch {
	case shot.Error != "":
		t.Name = name
		return injected(shot.Effect, t), nil
	case shot.Close:
		return errClosed, nil
	case shot.LoseAnswer:
		return nil, errClosed
	}
	timer := time.NewTimer(time.Duration(shot.Delay)) // zero for effects of watches and lists
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-shot.Removed:
	case <-a.Closing():
	case <-ctx.Done():
		return ctx.Err(), nil
	}
	return nil, nil
}

// injected returns the error that the server would return with a reason.
func injected(e *faults.Effect, t registry.Target) error {
	why := errors.New("a fault was injected")
	switch metav1.StatusReason(e.Error) {
	case metav1.StatusReasonConflict:
		return t.Conflict(errors.New(
			"the object has been modified; please apply your changes to the latest version and try again"))
	case metav1.StatusReasonAlreadyExists:
		return apierrors.NewAlreadyExists(t.Resource.GroupResource(), t.Name)
	case metav1.StatusReasonNotFound:
		return t.NotFound()
	case metav1.StatusReasonTooManyRequests:
		return apierrors.NewTooManyRequests(status.ErrBusy.Error(), cmp.Or(e.RetryAfter, 1))
	case metav1.StatusReasonServiceUnavailable:
		return storage.ErrUnavailable
	case metav1.StatusReasonTimeout:
		return context.DeadlineExceeded
	case metav1.StatusReasonExpired:
		return storage.ErrCompacted
	case metav1.StatusReasonForbidden:
		return apierrors.NewForbidden(t.Resource.GroupResource(), t.Name, why)
	case metav1.StatusReasonInvalid:
		return invalid.New(t.Resource.GroupVersionKind().GroupKind(), t.Name,
			field.ErrorList{field.Forbidden(field.NewPath("spec"), why.Error())})
	}
	return apierrors.NewInternalError(why)
}

// faulty returns the request as rules match it.
func (req *request) faulty() *faults.Request {
	q := faultOf(&req.Request, req.verb)
	query := requestinfo.Query(req.r)
	q.UserAgent, q.FieldManager = req.r.UserAgent(), req.managerOr(query.Get("fieldManager"))
	q.DryRun, q.Name = registry.IsDryRun(query["dryRun"]), cmp.Or(q.Name, req.info.Name) // of a field selector
	q.Stale = query.Get("resourceVersion") == "0" && query.Get("continue") == "" && !req.Resource.Virtual
	switch {
	case req.verb == "create" && req.Name == "":
		media, err := render.ContentType(req.r, !req.Resource.Custom)
		if err != nil {
			break // the handler returns the error
		}
		body := codec.NewBody(req.info.Body, media, metav1.FieldValidationIgnore)
		obj, err := codec.Decode(body, req.Resource.GroupVersionKind(), codec.CoercionOf(req.Resource), func(string) {})
		if err == nil {
			if m, err := meta.Accessor(obj); err == nil {
				q.Name = m.GetName()
			}
		}
	case len(req.info.Body) > 0 && (req.verb == "delete" || req.verb == "deletecollection"):
		if opts, err := req.deleteOptions(); err == nil {
			q.DryRun = registry.IsDryRun(opts.DryRun)
		}
	}
	return q
}

// faultOf returns a request without the fields that depend on HTTP.
func faultOf(r *registry.Request, verb string) *faults.Request {
	q := &faults.Request{
		Verb: verb, Group: r.Resource.Group, Resource: r.Resource.Plural, Namespace: r.Namespace, Name: r.Name,
		User: r.User.Name,
	}
	if r.Subresource != nil {
		q.Subresource = r.Subresource.Name
	}
	return q
}

// Inject returns the errors with which a request of the in-process client fails before or after its execution.
func (a *API) Inject(ctx context.Context, r *registry.Request, name, verb, manager string) (before, after error) {
	if a.Faults.Idle() {
		return nil, nil
	}
	q := faultOf(r, verb)
	q.Name, q.Controller, q.FieldManager, q.UserAgent = name, true, manager, a.Registry.Agent
	shot, _ := a.decide(r, q)
	if shot == nil {
		return nil, nil
	}
	return a.execute(ctx, shot, r.Target, name)
}

// FaultRoute returns the route of plans.
func (a *API) FaultRoute() render.Route {
	return render.Route{
		Path: "faults", Methods: []string{http.MethodGet, http.MethodPost, http.MethodDelete},
		Serve: render.Answer(a.Log, a.serveFaults),
	}
}

// serveFaults lists the plans and the injected faults, adds a plan, or removes one by the number in the query, or all.
func (a *API) serveFaults(r *http.Request) (any, error) {
	switch r.Method {
	case http.MethodGet:
		return a.Faults.Report(), nil
	case http.MethodPost:
		body, err := io.ReadAll(r.Body)
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, codec.TooLarge()
		}
		if err != nil {
			return nil, status.BadRequest("reading the plan: %v", err)
		}
		plan, err := faults.Parse(body)
		var number int
		if err == nil {
			number, _, err = a.Faults.Add(plan)
		}
		if err != nil {
			return nil, status.BadRequest("%v", err)
		}
		return map[string]int{"plan": number, "rules": len(plan.Rules)}, nil
	}
	if r.URL.RawQuery == "" {
		return map[string]int{"removed": a.Faults.Remove(0)}, nil
	}
	plan, ok := strings.CutPrefix(r.URL.RawQuery, "plan=")
	if !ok || strings.ContainsAny(plan, "&;") {
		return nil, status.BadRequest("the only parameter is one plan")
	}
	if number, _ := strconv.Atoi(plan); number > 0 && a.Faults.Remove(number) > 0 {
		return map[string]int{"removed": 1}, nil
	}
	return nil, status.BadRequest("there is no plan %q", plan)
}
