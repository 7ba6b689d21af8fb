package endpoints

import (
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
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
	limit, err := a.limit(r, verb)
	if err != nil {
		return err
	}
	op := registry.Operation{Target: target, User: info.User, Warn: warn, Audit: respond.AuditOf(r)}
	req := &request{Operation: op, verb: verb, w: w, r: r, api: a, info: info}
	req.Sender = req
	if connects(target, verb) {
		return a.connect(req, limit)
	}
	if err := servable(r, target, verb); err != nil {
		return err
	}
	return a.run(req, limit)
}

// observe sets the labels of the request in the metrics.
func observe(r *http.Request, target registry.Target, verb string) {
	if rec := respond.RecorderOf(r); rec != nil {
		rec.Label = metrics.LabelOf(target, verb)
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

// limit is how long a request may take: the server's limit (0-13) or the client's, if that is less; 0 is no limit
// (AS endpoints/filters/request_deadline.go).
func (a *API) limit(r *http.Request, verb string) (time.Duration, error) {
	if verb == "watch" {
		return 0, nil
	}
	limit := a.timeout
	if registry.LongRunning(verb) {
		limit = 0
	}
	value := requestinfo.Query(r).Get("timeout")
	if value == "" {
		return limit, nil
	}
	d, err := time.ParseDuration(value)
	switch {
	case err != nil:
		return 0, status.BadRequest("invalid timeout specified in the request URL - %s", err)
	case d > 0 && (limit == 0 || d < limit):
		return d, nil
	}
	return limit, nil
}
