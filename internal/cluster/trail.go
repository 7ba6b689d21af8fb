package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/gc/trail"
)

// Trail returns the route "trail", which explains why objects were removed. Only objects that the user may list are in
// the response: another owner is named, as in the references of its dependents, without its own removal. A query that
// finds nothing gets a 404, which does not show whether a removal is hidden.
func Trail(t *trail.Trail, by func() authorization.Authorizer, log *slog.Logger) render.Route {
	return render.Route{Path: "trail", Serve: render.Answer(log, func(r *http.Request) (any, error) {
		v, err := queryOf(r, "trail")
		if err != nil {
			return nil, err
		}
		q := trail.Query{
			Kind: cmp.Or(v.Get("resource"), v.Get("kind")), Namespace: v.Get("namespace"), Name: v.Get("name"),
			UID: v.Get("uid"),
		}
		if v.Has("group") {
			q.Group = new(v.Get("group"))
		}
		if q.Kind == "" && q.UID == "" {
			return nil, status.BadRequest("kind, resource or uid is required")
		}
		answer := t.Answer()
		if answer.Items = t.Find(q, mayList(by(), requestinfo.Of(r))); len(answer.Items) > 0 {
			return &answer, nil
		}
		unknown := apierrors.NewNotFound(schema.GroupResource{Resource: q.Kind}, q.Name)
		unknown.ErrStatus.Message = fmt.Sprintf("no removal of such an object is known, or you may not list it: this server"+
			" keeps only the last %d removals since it started at %s, of which there were %d", answer.Limit,
			answer.Since.Format(time.RFC3339), answer.Removals)
		return nil, unknown
	})}
}

// mayList returns the reason why a user may not see the metadata of objects: the user may not list them.
func mayList(by authorization.Authorizer, info *requestinfo.Info) trail.May {
	return func(t trail.Type, namespace string) string {
		if by.Authorize(&authorization.Attributes{
			User: info.User, Verb: "list", IsResource: true, Group: t.Group, Version: t.Version, Resource: t.Resource,
			Namespace: namespace,
		}).Allowed() {
			return ""
		}
		return fmt.Sprintf("user %q may not list resource %q in API group %q", info.User.Name, t.Resource, t.Group)
	}
}

// errNoTrail reports that the server keeps no trail of removals. Test with errors.Is.
var errNoTrail = errors.New("the server keeps no trail of removed objects; only kubecascade does. " +
	"On other servers the audit log has the requests (kube-apiserver: --audit-policy-file and --audit-log-path): " +
	"look there for the verb delete and the name, and for the user generic-garbage-collector")

// Trail requests from the server why objects were removed; query has the parameters of /kubecascade/v1/trail. Errors
// have the server's message: there is no record of such a removal, or the user may not read it. A 404 without a reason
// is that of a server which does not have the path.
func (c *Client) Trail(ctx context.Context, query url.Values) (*trail.Answer, error) {
	var a trail.Answer
	err := c.getJSON(ctx, render.RoutePrefix+"trail", query, &a)
	if code(err) == http.StatusNotFound && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
		err = errNoTrail
	}
	return &a, err
}
