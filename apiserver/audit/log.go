package audit

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Log records requests by a policy. Its methods may be called from any goroutine. A nil Log records nothing.
type Log struct {
	policy  audit.PolicyRuleEvaluator
	backend audit.Backend
	// stop ends the backend. out is the log itself.
	stop chan struct{}
	out  io.Closer
}

// Close writes the queued events, and closes the log. Later events are lost.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	close(l.stop)
	l.backend.Shutdown()
	return l.out.Close()
}

// Begin returns the record of a request that arrived at the time received. It is nil if the policy ignores the request.
// id is the request's Audit-ID. The attributes have the authenticated user, or a zero User if there is none.
func (l *Log) Begin(r *http.Request, id string, a *authorization.Attributes, received time.Time) *Record {
	if l == nil {
		return nil
	}
	attributes := authorizer.AttributesRecord{
		User: &a.User,
		Verb: a.Verb, Namespace: a.Namespace, APIGroup: a.Group, APIVersion: a.Version, Resource: a.Resource,
		Subresource: a.Subresource, Name: a.Name, ResourceRequest: a.IsResource, Path: a.Path,
	}
	rule := l.policy.EvaluatePolicyRule(&attributes)
	ctx := audit.WithAuditContext(context.Background())
	audit.ObservePolicyLevel(ctx, rule.Level)
	if rule.Level == auditinternal.LevelNone {
		return nil
	}
	rec := &Record{ctx: ctx, event: audit.AuditContextFrom(ctx), rule: rule, longRunning: a.LongRunning()}
	if err := rec.event.Init(rule, l.backend); err != nil {
		panic(err) // the context is new
	}
	audit.WithAuditID(ctx, types.UID(id))
	audit.LogRequestMetadata(ctx, asSent(r), received, &attributes)
	return rec
}

// asSent returns the request with the URI that the client sent, because filters change the path.
func asSent(r *http.Request) *http.Request {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(path, "/") {
		return r
	}
	sent, u := *r, *r.URL
	u.Opaque, u.RawQuery, u.Scheme, u.Host = path, query, "", ""
	u.ForceQuery = query == "" && strings.HasSuffix(r.RequestURI, "?")
	sent.URL = &u
	return &sent
}
