package cluster

import (
	"bytes"
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

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/finalizers"
)

// MostDeletions is how many objects one preview may delete: it carries out each deletion twice.
const MostDeletions = 1000

// mostBody is the maximum size of a body, in bytes: enough for MostDeletions objects.
const mostBody = 1 << 20

// Named is an object as a question names it: by the resource, in any form that kubectl takes, or by apiVersion and kind;
// by the name, the uid or both. With both, the uid is a precondition.
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
	// Path is tree or why, which are of one object, preview, or lint, which is of all objects of the namespace.
	Path string
	// Namespace is read by itself where the user may not list all namespaces; empty: nothing is.
	Namespace string
	Objects   []Named
	// Options are those of a preview's deletions. IgnoreNotFound leaves objects out whose names do not exist: they are in
	// Preview.Absent then.
	Options        finalizers.Options
	IgnoreNotFound bool

	// selector selects further objects of the resource of; nil for none.
	selector labels.Selector
	of       Named
}

// parameters are the query parameters of all questions about objects, and those of preview besides. Others are errors: a
// preview must not be that of another deletion than the client means.
var (
	parameters = []string{"resource", "apiVersion", "kind", "namespace", "name", "uid"}
	deletion   = []string{"labelSelector", "propagationPolicy", "gracePeriodSeconds", "ignoreNotFound"}
)

// parse reads a question from the query of a request, and from the body of a POST.
func parse(r *http.Request, path string) (*Question, error) {
	q := r.URL.Query()
	if path == "lint" {
		return parseQuery(q, path, []string{"namespace"})
	}
	if path != "preview" {
		ask, err := parseQuery(q, path, parameters)
		if err == nil && len(ask.Objects) == 0 {
			err = errNoObject
		}
		return ask, err
	}
	ask, err := parseQuery(q, path, slices.Concat(parameters, deletion))
	if err == nil {
		err = ask.readOptions(q)
	}
	if err == nil && r.Method == http.MethodPost {
		err = ask.readBody(r)
	}
	switch {
	case err != nil:
		return nil, err
	case len(ask.Objects) == 0 && ask.selector == nil:
		return nil, errNoObject
	case len(ask.Objects) > 0 && ask.selector != nil:
		return nil, status.BadRequest("labelSelector can't be used with names")
	case len(ask.Objects) > 1 && ask.of.UID != "":
		return nil, status.BadRequest("uid can't be used with several names")
	case len(ask.Objects) > MostDeletions:
		return nil, tooMany(len(ask.Objects))
	}
	return ask, nil
}

var errNoObject = status.BadRequest("an object is required: resource and name, or uid")

// parseQuery reads the parameters that all questions may have. Only previews are of several names.
func parseQuery(q url.Values, path string, known []string) (*Question, error) {
	for name, values := range q {
		switch {
		case !slices.Contains(known, name):
			return nil, status.BadRequest("unknown query parameter %q", name)
		case len(values) > 1 && (name != "name" || path != "preview"):
			return nil, status.BadRequest("query parameter %q is there more than once", name)
		}
	}
	of := Named{
		Resource: q.Get("resource"), APIVersion: q.Get("apiVersion"), Kind: q.Get("kind"), Namespace: q.Get("namespace"),
		UID: q.Get("uid"),
	}
	ask := &Question{Path: path, Namespace: of.Namespace, of: of}
	for _, name := range q["name"] {
		one := of
		one.Name = name
		ask.Objects = append(ask.Objects, one)
	}
	if of.UID != "" && len(ask.Objects) == 0 {
		ask.Objects = append(ask.Objects, of)
	}
	return ask, nil
}

func tooMany(n int) error {
	return status.Oversized("%d objects to delete, the allowed maximum is %d", n, MostDeletions)
}

// readOptions reads the parameters of a deletion, which have the names of DeleteOptions.
func (ask *Question) readOptions(q url.Values) error {
	if raw := q.Get("labelSelector"); raw != "" {
		if long := invalid.LongSelector(raw); long != "" {
			return status.Oversized("labelSelector %s", long)
		}
		selector, err := labels.Parse(raw)
		if err != nil {
			return status.BadRequest("labelSelector: %v", err)
		}
		ask.selector = selector
	}
	if raw := q.Get("gracePeriodSeconds"); raw != "" {
		n, err := strconv.ParseInt(raw, 10, 64)
		if err != nil || n < 0 {
			return status.BadRequest("gracePeriodSeconds: %q is not a number of seconds", raw)
		}
		ask.Options.GracePeriodSeconds = &n
	}
	if raw := q.Get("ignoreNotFound"); raw != "" {
		ignore, err := strconv.ParseBool(raw)
		if err != nil {
			return status.BadRequest("ignoreNotFound: %q is not true or false", raw)
		}
		ask.IgnoreNotFound = ignore
	}
	return ask.setPolicy(q.Get("propagationPolicy"))
}

func (ask *Question) setPolicy(policy string) error {
	if !slices.Contains([]string{"", "Background", "Foreground", "Orphan"}, policy) {
		return status.BadRequest("propagationPolicy: %q is not Background, Foreground or Orphan", policy)
	}
	if policy != "" {
		ask.Options.PropagationPolicy = policy
	}
	return nil
}

// readBody reads the objects of a POST.
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
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		return status.BadRequest("body: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return status.BadRequest("body: more than one JSON value")
	}
	ask.Objects = append(ask.Objects, body.Objects...)
	if n := body.GracePeriodSeconds; n != nil {
		if *n < 0 {
			return status.BadRequest("gracePeriodSeconds: %d is not a number of seconds", *n)
		}
		ask.Options.GracePeriodSeconds = n
	}
	return ask.setPolicy(body.PropagationPolicy)
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
	method, body := http.MethodGet, []byte(nil)
	if one := ask.Objects[0]; len(ask.Objects) == 1 && (one.Namespace == "" || one.Namespace == ask.Namespace) {
		set("resource", one.Resource)
		set("name", one.Name)
	} else {
		var err error
		if body, err = json.Marshal(map[string]any{"objects": ask.Objects}); err != nil {
			return nil, err
		}
		method = http.MethodPost
	}
	target := server + render.RoutePrefix + ask.Path + "?" + query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}
