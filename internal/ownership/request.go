package ownership

import (
	"bytes"
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
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// MostDeletions is how many objects one preview may delete: it carries out each deletion twice.
const MostDeletions = 1000

// mostBody is the maximum size of a body, in bytes: enough for MostDeletions objects.
const mostBody = 1 << 20

// named is an object as a request names it: by the resource, in any form that kubectl takes, or by apiVersion and kind;
// by the name, the uid or both. With both, the uid is a precondition.
type named struct {
	Resource   string `json:"resource,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
	UID        string `json:"uid,omitempty"`
}

// question is what a request asks for.
type question struct {
	// path is tree, why or preview.
	path string
	// namespace is that of the request; it is read by itself where the user may not list all namespaces.
	namespace string
	objects   []named
	// selector selects further objects of its resource; nil for none. of has the resource.
	selector labels.Selector
	of       named
	options  finalizers.Options
	// ignore leaves out objects whose name does not exist; absent are those.
	ignore bool
	absent []graph.Key
}

// parameters are the query parameters of all paths, and those of preview besides. Others are errors: a preview must not
// be that of another deletion than the client means.
var (
	parameters = []string{"resource", "apiVersion", "kind", "namespace", "name", "uid"}
	deletion   = []string{"labelSelector", "propagationPolicy", "gracePeriodSeconds", "ignoreNotFound"}
)

// parse reads the query of a request, and the body of a POST. Only previews are of more than one object.
func parse(r *http.Request, path string) (*question, error) {
	preview := path == "preview"
	q := requestinfo.Query(r)
	for name, values := range q {
		switch {
		case !slices.Contains(parameters, name) && !(preview && slices.Contains(deletion, name)):
			return nil, status.BadRequest("unknown query parameter %q", name)
		case len(values) > 1 && !(preview && name == "name"):
			return nil, status.BadRequest("query parameter %q is there more than once", name)
		}
	}
	of := named{
		Resource: q.Get("resource"), APIVersion: q.Get("apiVersion"), Kind: q.Get("kind"), Namespace: q.Get("namespace"),
		UID: q.Get("uid"),
	}
	ask := &question{path: path, namespace: of.Namespace, of: of}
	for _, name := range q["name"] {
		one := of
		one.Name = name
		ask.objects = append(ask.objects, one)
	}
	if of.UID != "" && len(ask.objects) == 0 {
		ask.objects = append(ask.objects, of)
	}
	if err := ask.readOptions(q); err != nil {
		return nil, err
	}
	if r.Method == http.MethodPost {
		if err := ask.readBody(r); err != nil {
			return nil, err
		}
	}
	switch n := len(ask.objects); {
	case n == 0 && ask.selector == nil:
		return nil, status.BadRequest("an object is required: resource and name, or uid")
	case n > 0 && ask.selector != nil:
		return nil, status.BadRequest("labelSelector can't be used with names")
	case n > 1 && of.UID != "":
		return nil, status.BadRequest("uid can't be used with several names")
	case n > MostDeletions:
		return nil, tooMany(n)
	}
	return ask, nil
}

func tooMany(n int) error {
	return status.Oversized("%d objects to delete, the allowed maximum is %d", n, MostDeletions)
}

// readOptions reads the parameters of a deletion, which have the names of DeleteOptions.
func (ask *question) readOptions(q url.Values) error {
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
		ask.options.GracePeriodSeconds = &n
	}
	if raw := q.Get("ignoreNotFound"); raw != "" {
		ignore, err := strconv.ParseBool(raw)
		if err != nil {
			return status.BadRequest("ignoreNotFound: %q is not true or false", raw)
		}
		ask.ignore = ignore
	}
	return ask.setPolicy(q.Get("propagationPolicy"))
}

func (ask *question) setPolicy(policy string) error {
	if !slices.Contains([]string{"", "Background", "Foreground", "Orphan"}, policy) {
		return status.BadRequest("propagationPolicy: %q is not Background, Foreground or Orphan", policy)
	}
	if policy != "" {
		ask.options.PropagationPolicy = policy
	}
	return nil
}

// readBody reads the objects of a POST.
func (ask *question) readBody(r *http.Request) error {
	data, err := io.ReadAll(io.LimitReader(r.Body, mostBody+1))
	if err != nil {
		return fmt.Errorf("%w: %w", status.ErrSlowBody, err)
	}
	if len(data) > mostBody {
		return status.Oversized("the body has more than %d bytes", mostBody)
	}
	var body struct {
		Objects            []named `json:"objects"`
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
	ask.objects = append(ask.objects, body.Objects...)
	if n := body.GracePeriodSeconds; n != nil {
		if *n < 0 {
			return status.BadRequest("gracePeriodSeconds: %d is not a number of seconds", *n)
		}
		ask.options.GracePeriodSeconds = n
	}
	return ask.setPolicy(body.PropagationPolicy)
}
