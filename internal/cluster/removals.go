package cluster

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/gc/trail"
)

// Trail returns the route "trail": why objects went. The query has kind (or resource), group, namespace, name and uid,
// of which at least kind or uid is required. Only objects that the user may list are in the response, and only their
// requests: an owner that the user may not list is named, as in the references of its dependents, but nothing is said
// of its own removal. A query that finds nothing gets a 404, which does not tell whether there is something hidden.
func Trail(t *trail.Trail, by func() authorization.Authorizer, log *slog.Logger) render.Route {
	return render.Route{Path: "trail", Serve: func(w http.ResponseWriter, r *http.Request) {
		answer, err := trailOf(t, by(), r)
		var data []byte
		if err == nil {
			data, err = json.Marshal(answer)
		}
		if err != nil {
			render.Error(log, w, r, err)
			return
		}
		w.Header().Set("Content-Type", codec.MediaJSON)
		render.Body(w, r, http.StatusOK, append(data, '\n'))
	}}
}

// trailOf answers a request.
func trailOf(t *trail.Trail, by authorization.Authorizer, r *http.Request) (*trail.Answer, error) {
	q, err := trailQuery(requestinfo.Query(r))
	if err != nil {
		return nil, err
	}
	answer := t.Answer()
	items := t.Find(q, mayList(by, requestinfo.Of(r)))
	if len(items) == 0 {
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
			Message: answer.NotKnown(), Details: &metav1.StatusDetails{Name: q.Name, Kind: q.Kind},
		}}
	}
	answer.Items = items
	return &answer, nil
}

// trailQuery parses the query.
func trailQuery(v url.Values) (q trail.Query, err error) {
	for name := range v {
		switch name {
		case "kind", "resource", "group", "namespace", "name", "uid", "timeout":
		default:
			return q, apierrors.NewBadRequest(fmt.Sprintf("unknown parameter %q", name))
		}
	}
	q = trail.Query{Kind: v.Get("resource"), Namespace: v.Get("namespace"), Name: v.Get("name"), UID: v.Get("uid")}
	if q.Kind == "" {
		q.Kind = v.Get("kind")
	}
	if v.Has("group") {
		group := v.Get("group")
		q.Group = &group
	}
	if q.Kind == "" && q.UID == "" {
		return q, apierrors.NewBadRequest("kind, resource or uid is required")
	}
	return q, nil
}

// mayList returns the function that says of which objects the user may see metadata: those that they may list.
func mayList(by authorization.Authorizer, info *requestinfo.Info) trail.May {
	type list struct {
		group, resource, namespace string
	}
	known := map[list]string{}
	return func(t trail.Type, namespace string) string {
		key := list{t.Group, t.Resource, namespace}
		why, asked := known[key]
		if !asked {
			if !by.Authorize(&authorization.Attributes{
				User: info.User, Verb: "list", IsResource: true, Group: t.Group, Version: t.Version, Resource: t.Resource,
				Namespace: namespace,
			}).Allowed() {
				why = fmt.Sprintf("user %q may not list resource %q in API group %q", info.User.Name, t.Resource, t.Group)
			}
			known[key] = why
		}
		return why
	}
}
