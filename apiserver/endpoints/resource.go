package endpoints

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// requestKey is the context key of a request's *request.
type requestKey struct{}

// Resolve is the filter that finds the resource of a request, or responds with an error. The group version must be
// served.
func (a *API) Resolve(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req, err := a.newRequest(r)
		if err != nil {
			render.Error(a.Log, w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, req)))
	})
}

// newRequest returns the request for a resource. The error is a 404, a 405, or one about media types.
func (a *API) newRequest(r *http.Request) (*request, error) {
	info := requestinfo.Of(r)
	target, err := resolve(a.Registry.Types, info)
	if err != nil {
		return nil, err
	}
	req := &request{api: a, info: info, verb: verbOf(info, r.Method)}
	req.Request = registry.Request{
		Target: target, User: info.User, Warn: &invalid.Warnings{}, Audit: render.AuditOf(r), Sender: req,
	}
	setLabel(r, target, req.verb)
	if connects(target, req.verb) {
		return req, nil
	}
	return req, servable(r, target, req.verb)
}

// Listed returns the number of objects that a request lists, at most flowcontrol.MaxObjects. It is 0 for other
// requests, and for a list of one object.
func (a *API) Listed(r *http.Request) (n int) {
	req := r.Context().Value(requestKey{}).(*request)
	if !listsAll(req.verb, requestinfo.Query(r)) || req.Resource.Collection == "" || req.info.Name != "" {
		return 0
	}
	snapshot, err := a.Registry.Cache.Snapshot(req.Resource.Collection, 0)
	if err != nil {
		return 0
	}
	for range snapshot.Ascend(req.Key(a.Registry.Root), "") {
		if n++; n == flowcontrol.MaxObjects {
			break
		}
	}
	return n
}

// listsAll reports whether the response has all objects: that of a list, or of a watch that begins with them (AS
// pkg/util/flowcontrol/request/list_work_estimator.go).
func listsAll(verb string, q url.Values) bool {
	if verb != "watch" {
		return verb == "list"
	}
	if initial, err := strconv.ParseBool(q.Get("sendInitialEvents")); err == nil {
		return initial
	}
	rev := q.Get("resourceVersion")
	return rev == "" || rev == "0"
}

// ServeHTTP serves a request that Resolve has passed on. If the request's time is over, an internal error, such as that
// of a webhook call, becomes a timeout (AS endpoints/handlers/finisher).
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := r.Context().Value(requestKey{}).(*request)
	req.w, req.r = w, r
	err := a.serve(req)
	if over := r.Context().Err(); apierrors.IsInternalError(err) && errors.Is(over, context.DeadlineExceeded) {
		err = over
	}
	if err != nil {
		render.Warnings(w.Header(), req.Warn.Sent()) // errors have warnings, too (0-12)
		render.Error(a.Log, w, r, err)
	}
}

// serve serves a request, after it has acquired the memory for the body.
func (a *API) serve(req *request) error {
	if connects(req.Target, req.verb) {
		return a.connect(req)
	}
	if req.Resource.Deprecated != "" {
		req.Warn.Add(req.Resource.Deprecated)
		req.annotateDeprecated()
	}
	if req.Resource.Bind != nil {
		req.Resource = req.Resource.During(req.r.Context())
	}
	if len(req.info.Body) > 0 {
		release, err := req.acquire(a.writeCost(req))
		if err != nil {
			return err
		}
		defer release()
	}
	return a.dispatch(req)
}

// reserve acquires the memory for a response with objects. If the audit log has the response, it is encoded twice, and
// the memory is released after the last audit event is written.
func (req *request) reserve(rendering *render.Rendering, objs ...*storage.Object) (release func(), err error) {
	cost := rendering.Cost(objs)
	if !req.Audit.Responses() {
		return req.acquire(cost)
	}
	if release, err = req.acquire(cost + recorded(rendering).Cost(objs) + eventFactor*render.SizeOf(objs)); err != nil {
		return nil, err
	}
	req.Audit.Afterwards(release)
	return func() {}, nil
}

// eventFactor is the number of bytes that a recorded response and its audit event take for each byte of the objects.
const eventFactor = 3

// acquire acquires bytes of memory until release is called.
func (req *request) acquire(bytes int64) (release func(), err error) {
	return req.api.Memory.Acquire(req.r.Context(), req.User.Name, bytes)
}

// dispatch calls the handler of the verb.
func (a *API) dispatch(req *request) error {
	h := objectVerbs[req.verb]
	if req.Resource.Virtual && req.verb == "create" {
		h = (*API).servePost
	}
	if req.Subresource != nil && subresourceVerbs[req.Subresource.Action] != nil {
		h = subresourceVerbs[req.Subresource.Action]
	}
	if h == nil {
		return status.ErrNoMethod
	}
	return h(a, req)
}

// objectVerbs are the handlers of objects and collections.
var objectVerbs = map[string]func(*API, *request) error{
	"create": (*API).serveCreate, "get": (*API).serveGet, "list": (*API).serveList, "watch": (*API).serveWatch,
	"update": (*API).serveUpdate, "patch": (*API).servePatch, "delete": (*API).serveDelete,
	"deletecollection": (*API).serveDeleteCollection,
}

// subresourceVerbs are the handlers of subresources that are not a part of their object.
var subresourceVerbs = map[resources.Action]func(*API, *request) error{
	resources.Scale:  (*API).serveScale,
	resources.ByHook: (*API).servePost,
}

// setLabel sets the request's labels for the metrics.
func setLabel(r *http.Request, target registry.Target, verb string) {
	if rec := render.RecorderOf(r); rec != nil {
		rec.Label = labelOf(target, verb)
		if strings.Contains(r.URL.RawQuery, "dryRun") && slices.Contains(requestinfo.Query(r)["dryRun"], metav1.DryRunAll) {
			rec.Label.DryRun = metav1.DryRunAll
		}
		if verb == "patch" && r.Header.Get("Content-Type") == string(types.ApplyPatchType) {
			rec.Label.Verb = "APPLY"
		}
	}
}

// labelOf returns the labels that kube-apiserver uses (AS pkg/endpoints/metrics: CleanScope). Creates and updates have
// their HTTP method as the verb, and connections have CONNECT (K pkg/registry/core/pod/rest/log.go:
// OverrideMetricsVerb). A create has the scope of the object that it creates.
func labelOf(t registry.Target, verb string) metrics.Label {
	l := metrics.Label{
		Verb: strings.ToUpper(verb), Group: t.Resource.Group, Version: t.Resource.Version, Resource: t.Resource.Plural,
		Scope: "cluster",
	}
	switch verb {
	case "create":
		l.Verb = http.MethodPost
	case "update":
		l.Verb = http.MethodPut
	}
	switch {
	case t.Name != "" || verb == "create":
		l.Scope = "resource"
	case t.Namespace != "":
		l.Scope = "namespace"
	}
	if t.Subresource != nil {
		l.Subresource = t.Subresource.Name
		if connects(t, verb) {
			l.Verb = "CONNECT"
		}
	}
	return l
}

// servable returns nil if the target serves the verb, otherwise the error.
func servable(r *http.Request, target registry.Target, verb string) error {
	switch {
	case target.Serves(verb):
	case verb == "watch" && !target.Watch && target.Resource.Has("list"): // AS handlers/get.go:handleWatch
		return apierrors.NewMethodNotSupported(target.Resource.GroupResource(), verb)
	case target.Name != "" && target.Subresource == nil && !isNamed(target.Resource),
		target.Watch && !target.Resource.Has("watch"):
		// a resource that can only be created has no paths with names, and some resources can't be watched
		return status.ErrNoRoute
	default:
		return status.ErrNoMethod
	}
	return render.Routable(r, target.Resource, verb)
}
