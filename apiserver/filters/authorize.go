package filters

import (
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// Authorize responds with 403 unless the user is allowed to make the request.
func Authorize(by authorization.Authorizer, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a, d := authorize(by, r, requestinfo.Of(r).Attributes())
			annotateDecision(render.AuditOf(r), d)
			if !d.Allowed() {
				render.Denied(log, w, r, requestinfo.Forbidden(a, d.Reason()))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// authorize returns the decision and its attributes. If StripSlash has removed slashes from a non-resource path, the
// original path must be allowed, too. Upstream authorizes only the original path, but serves almost no such path.
func authorize(
	by authorization.Authorizer, r *http.Request, a *authorization.Attributes,
) (*authorization.Attributes, authorization.Decision) {
	if original, ok := r.Context().Value(originalPathKey{}).(string); ok && !a.IsResource {
		on := *a
		on.Path = original
		if d := by.Authorize(&on); !d.Allowed() {
			return &on, d
		}
	}
	return a, by.Authorize(a)
}

// annotateDecision records the decision and its reason (N-30; AS pkg/endpoints/filters/authorization.go).
func annotateDecision(record *audit.Record, d authorization.Decision) {
	if record == nil {
		return // the reason is not needed
	}
	decision := "forbid"
	if d.Allowed() {
		decision = "allow"
	}
	record.Annotate("authorization.k8s.io/decision", decision)
	record.Annotate("authorization.k8s.io/reason", d.Reason())
}
