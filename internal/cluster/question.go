package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/finalizers"
)

// MostDeletions is the maximum number of objects that one preview may delete: it carries out each deletion twice.
const MostDeletions = 1000

// mostBody is the maximum size of a body, in bytes: enough for MostDeletions objects.
const mostBody = 1 << 20

// Named is an object as a question names it: by the resource, in any form that kubectl takes, or by apiVersion and
// kind; by the name, the uid or both. With both, the uid is a precondition.
type Named struct {
	Resource   string `json:"resource,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
	UID        string `json:"uid,omitempty"`
}

// Question is a question about a cluster.
type Question struct {
	Path      string // tree or why (for one object), preview, or lint (for all objects of the namespace)
	Namespace string // is read if the user may not list a resource in all namespaces; empty for none
	Objects   []Named
	// Selector, if there is one, selects objects of a preview: Objects are then their resources, each with the namespace
	// or, for all namespaces, without one.
	Selector labels.Selector
	// Options are the options of a preview's deletions. IgnoreNotFound leaves objects out whose names do not exist:
	// they are in Preview.Absent then.
	Options        finalizers.Options
	IgnoreNotFound bool
}

// parameters has the query parameters of the paths. Others are errors: a preview must not be for another deletion than
// the client intends.
var parameters = map[string][]string{
	"graph": {"namespace", "past"},
	"lint":  {"namespace"},
	"trail": {"kind", "resource", "group", "namespace", "name", "uid"},
	"tree":  ofObjects,
	"why":   ofObjects,
	"preview": append(slices.Clip(ofObjects),
		"labelSelector", "propagationPolicy", "gracePeriodSeconds", "ignoreNotFound"),
}

var ofObjects = []string{"resource", "apiVersion", "kind", "namespace", "name", "uid"}

// body is the body of a POST. A query has the same options.
type body struct {
	Objects            []Named `json:"objects"`
	PropagationPolicy  string  `json:"propagationPolicy"`
	GracePeriodSeconds *int64  `json:"gracePeriodSeconds"`
}

// queryOf returns the query of a request for a path. kubectl adds the parameter timeout. Only a preview may have
// several names.
func queryOf(r *http.Request, path string) (url.Values, error) {
	q := r.URL.Query()
	for name, values := range q {
		switch {
		case name != "timeout" && !slices.Contains(parameters[path], name):
			return nil, status.BadRequest("unknown query parameter %q", name)
		case len(values) > 1 && (name != "name" || path != "preview"):
			return nil, status.BadRequest("query parameter %q is set more than once", name)
		}
	}
	return q, nil
}

// parse reads a question from the query of a request, and from the body of a POST.
func parse(r *http.Request, path string) (*Question, error) {
	q, err := queryOf(r, path)
	if err != nil {
		return nil, err
	}
	of := Named{
		Resource: q.Get("resource"), APIVersion: q.Get("apiVersion"), Kind: q.Get("kind"), Namespace: q.Get("namespace"),
		UID: q.Get("uid"),
	}
	ask := &Question{Path: path, Namespace: of.Namespace}
	var b body
	err = ask.readQuery(q, &b)
	names := q["name"]
	if len(names) == 0 && (of.UID != "" || ask.Selector != nil && of.Resource+of.Kind != "") {
		names = []string{""}
	}
	for _, of.Name = range names {
		ask.Objects = append(ask.Objects, of)
	}
	if err == nil && r.Method == http.MethodPost {
		err = b.read(r.Body)
	}
	ask.Objects = append(ask.Objects, b.Objects...)
	ask.Options = finalizers.Options{PropagationPolicy: b.PropagationPolicy, GracePeriodSeconds: b.GracePeriodSeconds}
	switch grace := b.GracePeriodSeconds; {
	case err != nil:
		return nil, err
	case !slices.Contains([]string{"", "Background", "Foreground", "Orphan"}, b.PropagationPolicy):
		return nil, status.BadRequest("propagationPolicy: %q is not Background, Foreground or Orphan", b.PropagationPolicy)
	case grace != nil && *grace < 0:
		return nil, status.BadRequest("gracePeriodSeconds: %d is not a number of seconds", *grace)
	case len(ask.Objects) == 0 && path != "lint":
		return nil, status.BadRequest("an object is required: resource and name, or uid")
	case ask.Selector != nil && slices.ContainsFunc(ask.Objects, func(n Named) bool { return n.Name+n.UID != "" }):
		return nil, status.BadRequest("labelSelector can't be used with names")
	case len(ask.Objects) > 1 && of.UID != "":
		return nil, status.BadRequest("uid can't be used with several names")
	case len(ask.Objects) > MostDeletions:
		return nil, tooMany(len(ask.Objects))
	}
	return ask, nil
}

func tooMany(n int) error {
	return status.Oversized("%d objects to delete, the allowed maximum is %d", n, MostDeletions)
}

// readQuery reads the options of a deletion, which have the names of DeleteOptions.
func (ask *Question) readQuery(q url.Values, b *body) error {
	if q.Has("labelSelector") {
		if err := ask.Select(q.Get("labelSelector")); err != nil {
			return err
		}
	}
	if raw := q.Get("ignoreNotFound"); raw != "" {
		var err error
		if ask.IgnoreNotFound, err = strconv.ParseBool(raw); err != nil {
			return status.BadRequest("ignoreNotFound: %q is not true or false", raw)
		}
	}
	b.PropagationPolicy = q.Get("propagationPolicy")
	if raw := q.Get("gracePeriodSeconds"); raw != "" {
		n, err := strconv.ParseInt(raw, 10, 64)
		if err != nil {
			return status.BadRequest("gracePeriodSeconds: %q is not a number of seconds", raw)
		}
		b.GracePeriodSeconds = &n
	}
	return nil
}

// Select sets the selector: an empty one selects all objects.
func (ask *Question) Select(selector string) (err error) {
	if long := authorization.LongSelector(selector); long != "" {
		return status.Oversized("labelSelector %s", long)
	}
	if ask.Selector, err = labels.Parse(selector); err != nil {
		return status.BadRequest("labelSelector: %v", err)
	}
	return nil
}

// read decodes a body. Its options override those of the query.
func (b *body) read(from io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(from, mostBody+1))
	if err != nil {
		return fmt.Errorf("%w: %w", status.ErrSlowBody, err)
	}
	if len(data) > mostBody {
		return status.Oversized("the body has more than %d bytes", mostBody)
	}
	unknown, err := kjson.UnmarshalStrict(data, b)
	if err = errors.Join(append(unknown, err)...); err != nil {
		return status.BadRequest("body: %v", err)
	}
	return nil
}

// request returns a GET for one object, so that users need the verb get only, and a POST for several.
func (ask *Question) request(ctx context.Context, c *Client) (*http.Request, error) {
	query := url.Values{}
	set := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	set("namespace", ask.Namespace)
	set("propagationPolicy", ask.Options.PropagationPolicy)
	if n := ask.Options.GracePeriodSeconds; n != nil {
		set("gracePeriodSeconds", strconv.FormatInt(*n, 10))
	}
	if ask.IgnoreNotFound {
		set("ignoreNotFound", "true")
	}
	if ask.Selector != nil {
		query.Set("labelSelector", ask.Selector.String())
	}
	method := http.MethodPost
	data, _ := json.Marshal(map[string]any{"objects": ask.Objects}) // strings have a JSON
	one := ask.Objects[0]
	if len(ask.Objects) == 1 && (one.Namespace == ask.Namespace || one.Namespace == "" && ask.Selector == nil) {
		method, data = http.MethodGet, nil
		set("resource", one.Resource)
		set("name", one.Name)
	}
	req, err := c.request(ctx, method, render.RoutePrefix+ask.Path, query, data)
	if err == nil {
		req.Header.Set("Accept", mediaJSON)
		req.Header.Set("Content-Type", mediaJSON)
	}
	return req, err
}
