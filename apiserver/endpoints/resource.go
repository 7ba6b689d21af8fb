package endpoints

import (
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/respond"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/apiserver/warning"
)

// ServeHTTP serves a request of a resource. Group and version must be served.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	warn, info := &warning.List{}, requestinfo.Of(r)
	t, err := resolve(a.registry.Types, info)
	if err == nil {
		err = a.dispatch(w, r, t, info, warn)
	}
	if err != nil {
		respond.Warnings(w.Header(), warn) // a failure is warned of, too (0-12)
		respond.Error(a.log, w, r, err)
	}
}

// dispatch serves a request of a resource that exists.
func (a *API) dispatch(
	w http.ResponseWriter, r *http.Request, target registry.Target, info *requestinfo.Info, warn *warning.List,
) error {
	verb := verbOf(info, r.Method)
	observe(r, target, verb)
	op := registry.Operation{Target: target, User: info.User, Warn: warn, Audit: respond.AuditOf(r)}
	req := &request{Operation: op, verb: verb, w: w, r: r, api: a, info: info}
	req.Sender = req
	if connects(target, verb) {
		return a.connect(req)
	}
	if err := servable(r, target, verb); err != nil {
		return err
	}
	if target.Resource.Deprecated != "" {
		warn.Add(target.Resource.Deprecated)
		req.annotateDeprecated()
	}
	if target.Resource.Bind != nil {
		req.Resource = target.Resource.During(r.Context())
	}
	release, err := req.acquire(a.writeCost(req))
	if err != nil {
		return err
	}
	defer release()
	return a.verb(req)
}

// acquire takes bytes of memory until release is called.
func (req *request) acquire(bytes int64) (release func(), err error) {
	return req.api.memory.Acquire(req.r.Context(), req.User.Name, bytes)
}

// verb calls the handler in the file of that name.
func (a *API) verb(req *request) error {
	if req.Subresource != nil {
		if h := subresourceVerbs[req.Subresource.Action]; h != nil {
			return h(a, req)
		}
	}
	switch req.verb {
	case "create":
		return a.serveCreate(req)
	case "get":
		return a.serveGet(req)
	case "list":
		return a.serveList(req)
	case "watch":
		return a.serveWatch(req)
	case "update":
		return a.serveUpdate(req)
	case "patch":
		return a.servePatch(req)
	case "delete":
		return a.serveDelete(req)
	case "deletecollection":
		return a.serveDeleteCollection(req)
	}
	return status.ErrNoMethod
}

// subresourceVerbs carry out the subresources that are more than a part of their object.
var subresourceVerbs = map[resources.Action]func(*API, *request) error{
	resources.Scale:  (*API).serveScale,
	resources.ByHook: (*API).servePost,
}

// observe sets the labels of the request in the metrics.
func observe(r *http.Request, target registry.Target, verb string) {
	if rec := respond.RecorderOf(r); rec != nil {
		rec.Label = labelOf(target, verb)
		if strings.Contains(r.URL.RawQuery, "dryRun") && slices.Contains(requestinfo.Query(r)["dryRun"], metav1.DryRunAll) {
			rec.Label.DryRun = metav1.DryRunAll
		}
		if verb == "patch" && r.Header.Get("Content-Type") == string(types.ApplyPatchType) {
			rec.Label.Verb = "APPLY"
		}
	}
}

// servable is nil if there is something that the request is for.
func servable(r *http.Request, target registry.Target, verb string) error {
	switch {
	case target.Serves(verb):
	case verb == "watch" && !target.Watch && target.Resource.Has("list"): // AS handlers/get.go:handleWatch
		return apierrors.NewMethodNotSupported(target.Resource.GroupResource(), verb)
	case target.Name != "" && target.Subresource == nil && !target.Named(), target.Watch && !target.Resource.Has("watch"):
		// a resource that can only be created has no paths with names, and not every resource is watched
		return status.ErrNoRoute
	default:
		return status.ErrNoMethod
	}
	return render.Routable(r, target, verb)
}
