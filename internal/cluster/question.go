package cluster

import (
	"bytes"
	"cmp"
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

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/finalizers"
)

// MostDeletions is how many objects one preview may delete: it carries out each deletion twice.
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
	Path      string // tree or why, which are of one object, preview, or lint, which is of all objects of the namespace
	Namespace string // read by itself where the user may not list all namespaces; empty: nothing is
	Objects   []Named
	// Options are those of a preview's deletions. IgnoreNotFound leaves objects out whose names do not exist: they are in
	// Preview.Absent then.
	Options        finalizers.Options
	IgnoreNotFound bool

	// selector, if there is one, selects the objects of the resource of the only one of Objects.
	selector labels.Selector
}

// parameters are the query parameters of questions, by their path. Others are errors: a preview must not be that of
// another deletion than the client means.
var parameters = map[string][]string{
	"lint": {"namespace"},
	"tree": {"resource", "apiVersion", "kind", "namespace", "name", "uid"},
	"why":  {"resource", "apiVersion", "kind", "namespace", "name", "uid"},
	"preview": {"resource", "apiVersion", "kind", "namespace", "name", "uid",
		"labelSelector", "propagationPolicy", "gracePeriodSeconds", "ignoreNotFound"},
}

// parse reads a question from the query of a request, and from the body of a POST. Only previews are of several names.
func parse(r *http.Request, path string) (*Question, error) {
	q := r.URL.Query()
	for name, values := range q {
		switch {
		case !slices.Contains(parameters[path], name):
			return nil, status.BadRequest("unknown query parameter %q", name)
		case len(values) > 1 && (name != "name" || path != "preview"):
			return nil, status.BadRequest("query parameter %q is there more than once", name)
		}
	}
	of := Named{
		Resource: q.Get("resource"), APIVersion: q.Get("apiVersion"), Kind: q.Get("kind"), Namespace: q.Get("namespace"),
		UID: q.Get("uid"),
	}
	ask := &Question{Path: path, Namespace: of.Namespace}
	err := ask.readOptions(q)
	names := q["name"]
	if len(names) == 0 && (of.UID != "" || ask.selector != nil) {
		names = []string{""}
	}
	for _, of.Name = range names {
		ask.Objects = append(ask.Objects, of)
	}
	if err == nil && r.Method == http.MethodPost {
		err = ask.readBody(r)
	}
	switch {
	case err != nil:
		return nil, err
	case len(ask.Objects) == 0 && path != "lint":
		return nil, status.BadRequest("an object is required: resource and name, or uid")
	case ask.selector != nil && (len(ask.Objects) > 1 || of.Name+of.UID != ""):
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

// readOptions reads the parameters of a deletion, which have the names of DeleteOptions.
func (ask *Question) readOptions(q url.Values) (err error) {
	if raw := q.Get("labelSelector"); raw != "" {
		if long := invalid.LongSelector(raw); long != "" {
			return status.Oversized("labelSelector %s", long)
		}
		if ask.selector, err = labels.Parse(raw); err != nil {
			return status.BadRequest("labelSelector: %v", err)
		}
	}
	if raw := q.Get("ignoreNotFound"); raw != "" {
		if ask.IgnoreNotFound, err = strconv.ParseBool(raw); err != nil {
			return status.BadRequest("ignoreNotFound: %q is not true or false", raw)
		}
	}
	var grace *int64
	if raw := q.Get("gracePeriodSeconds"); raw != "" {
		n, err := strconv.ParseInt(raw, 10, 64)
		if err != nil {
			return status.BadRequest("gracePeriodSeconds: %q is not a number of seconds", raw)
		}
		grace = &n
	}
	return ask.setOptions(q.Get("propagationPolicy"), grace)
}

// setOptions sets those options of the deletions that are not empty.
func (ask *Question) setOptions(policy string, grace *int64) error {
	switch {
	case !slices.Contains([]string{"", "Background", "Foreground", "Orphan"}, policy):
		return status.BadRequest("propagationPolicy: %q is not Background, Foreground or Orphan", policy)
	case grace != nil && *grace < 0:
		return status.BadRequest("gracePeriodSeconds: %d is not a number of seconds", *grace)
	}
	ask.Options.PropagationPolicy = cmp.Or(policy, ask.Options.PropagationPolicy)
	ask.Options.GracePeriodSeconds = cmp.Or(grace, ask.Options.GracePeriodSeconds)
	return nil
}

func (ask *Question) readBody(r *http.Request) error {
	data, err := io.ReadAll(io.LimitReader(r.Body, mostBody+1))
	if err != nil {
		return fmt.Errorf("%w: %w", status.ErrSlowBody, err)
	}
	if len(data) > mostBody {
		return status.Oversized("the body has more than %d bytes", mostBody)
	}
	var body struct {
		Objects            []Named `json:"objects"`
		PropagationPolicy  string  `json:"propagationPolicy"`
		GracePeriodSeconds *int64  `json:"gracePeriodSeconds"`
	}
	unknown, err := kjson.UnmarshalStrict(data, &body)
	if err = errors.Join(append(unknown, err)...); err != nil {
		return status.BadRequest("body: %v", err)
	}
	ask.Objects = append(ask.Objects, body.Objects...)
	return ask.setOptions(body.PropagationPolicy, body.GracePeriodSeconds)
}

// request is a GET for one object, so that users need the verb get only, and a POST for several.
func (ask *Question) request(ctx context.Context, server string) (*http.Request, error) {
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
	method := http.MethodPost
	body, _ := json.Marshal(map[string]any{"objects": ask.Objects}) // strings have a JSON
	if one := ask.Objects[0]; len(ask.Objects) == 1 && (one.Namespace == "" || one.Namespace == ask.Namespace) {
		method, body = http.MethodGet, nil
		set("resource", one.Resource)
		set("name", one.Name)
	}
	target := server + render.RoutePrefix + ask.Path + "?" + query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Accept", mediaJSON)
		req.Header.Set("Content-Type", mediaJSON)
	}
	return req, err
}
