package filters

import (
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// Authorize denies what the user may not do (403).
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

// authorize returns the decision, and for which attributes it is. A path that is no resource's is authorized as the
// client wrote it, too, where that has slashes at its end which the routes ignore. Upstream authorizes that alone, but
// serves hardly any of these paths.
func authorize(
	by authorization.Authorizer, r *http.Request, a *authorization.Attributes,
) (*authorization.Attributes, authorization.Decision) {
	if asked, ok := r.Context().Value(askedKey{}).(string); ok && !a.IsResource {
		on := *a
		on.Path = asked
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
