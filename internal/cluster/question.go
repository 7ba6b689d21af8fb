package cluster

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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/explain"
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

// parameters are the query parameters of all questions about objects, and those of preview besides. Others are errors: a
// preview must not be that of another deletion than the client means.
var (
	parameters = []string{"resource", "apiVersion", "kind", "namespace", "name", "uid"}
	deletion   = []string{"labelSelector", "propagationPolicy", "gracePeriodSeconds", "ignoreNotFound"}
)

// parse reads a question about one object.
func parse(r *http.Request) (*question, error) {
	ask, err := parseQuery(r.URL.Query(), parameters, nil)
	if err == nil && len(ask.objects) == 0 {
		return nil, errNoObject
	}
	return ask, err
}

var errNoObject = status.BadRequest("an object is required: resource and name, or uid")

// parseLint reads a question about all objects.
func parseLint(r *http.Request) (*question, error) {
	return parseQuery(r.URL.Query(), []string{"namespace"}, nil)
}

// parsePreview reads a question about deletions, from the query, and the body of a POST.
func parsePreview(r *http.Request) (*question, error) {
	q := r.URL.Query()
	ask, err := parseQuery(q, slices.Concat(parameters, deletion), []string{"name"})
	if err == nil {
		err = ask.readOptions(q)
	}
	if err == nil && r.Method == http.MethodPost {
		err = ask.readBody(r)
	}
	switch {
	case err != nil:
		return nil, err
	case len(ask.objects) == 0 && ask.selector == nil:
		return nil, errNoObject
	case len(ask.objects) > 0 && ask.selector != nil:
		return nil, status.BadRequest("labelSelector can't be used with names")
	case len(ask.objects) > 1 && ask.of.UID != "":
		return nil, status.BadRequest("uid can't be used with several names")
	case len(ask.objects) > MostDeletions:
		return nil, tooMany(len(ask.objects))
	}
	return ask, nil
}

// parseQuery reads the parameters that all questions may have. Those in several may be repeated.
func parseQuery(q url.Values, known, several []string) (*question, error) {
	for name, values := range q {
		switch {
		case !slices.Contains(known, name):
			return nil, status.BadRequest("unknown query parameter %q", name)
		case len(values) > 1 && !slices.Contains(several, name):
			return nil, status.BadRequest("query parameter %q is there more than once", name)
		}
	}
	of := named{
		Resource: q.Get("resource"), APIVersion: q.Get("apiVersion"), Kind: q.Get("kind"), Namespace: q.Get("namespace"),
		UID: q.Get("uid"),
	}
	ask := &question{namespace: of.Namespace, of: of}
	for _, name := range q["name"] {
		one := of
		one.Name = name
		ask.objects = append(ask.objects, one)
	}
	if of.UID != "" && len(ask.objects) == 0 {
		ask.objects = append(ask.objects, of)
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

// finder finds the objects that a question names.
type finder struct {
	d   *Discovery
	got *explain.Cluster
}

// keys are the objects of a question. Errors: 400, 403, 404 (unless absent objects are left out), and 409 if the uid is
// another one.
func (f *finder) keys(ask *question) (keys []graph.Key, err error) {
	if ask.selector != nil {
		return f.selected(ask.of, ask.selector)
	}
	all := make([]graph.Key, len(ask.objects))
	there := map[graph.Key]*explain.Object{}
	for i, n := range ask.objects {
		if all[i], err = f.key(n); err != nil {
			return nil, err
		}
		there[all[i]] = nil
	}
	for i := range f.got.Objects {
		o := &f.got.Objects[i]
		if _, asked := there[o.Key]; asked {
			there[o.Key] = o
		}
	}
	for i, n := range ask.objects {
		switch err := f.exists(n, all[i], there[all[i]]); {
		case err == nil:
			keys = append(keys, all[i])
		case ask.ignore && n.Name != "" && apierrors.IsNotFound(err):
			ask.absent = append(ask.absent, all[i])
		default:
			return nil, err
		}
	}
	return keys, nil
}

// resource finds the resource that an object is named by.
func (f *finder) resource(n named) (*Resource, error) {
	switch {
	case n.Resource != "" && n.Kind != "":
		return nil, status.BadRequest("resource and kind can't both be used")
	case n.Resource != "":
		r, err := f.d.Resolve(n.Resource)
		if err != nil {
			return nil, status.BadRequest("%v", err)
		}
		return r, nil
	}
	if r := f.d.Kind(n.APIVersion, n.Kind); r != nil {
		return r, nil
	}
	return nil, status.BadRequest("the server doesn't serve resource %q, kind %q of %q", n.Resource, n.Kind, n.APIVersion)
}

// key is the key of an object by its name, or else by its uid.
func (f *finder) key(n named) (k graph.Key, err error) {
	if n.Name == "" && n.UID != "" {
		for i := range f.got.Objects {
			if o := &f.got.Objects[i]; o.UID == n.UID {
				return o.Key, nil
			}
		}
		return k, apierrors.NewNotFound(schema.GroupResource{Resource: "uid"}, n.UID)
	}
	r, err := f.resource(n)
	switch {
	case err != nil:
		return k, err
	case n.Name == "":
		return k, status.ErrEmptyName
	case r.Namespaced && n.Namespace == "":
		return k, status.BadRequest("%s are namespaced: a namespace is required", r.Name())
	case !r.Namespaced:
		n.Namespace = ""
	}
	return graph.Key{Collection: r.Name(), Namespace: n.Namespace, Name: n.Name}, nil
}

// exists returns nil if there is an object o at the key, with the uid that the name has.
func (f *finder) exists(n named, k graph.Key, o *explain.Object) error {
	r := f.d.Named(k.Collection)
	gr := schema.GroupResource{Group: r.Group, Resource: r.Plural}
	switch {
	case o == nil && r.Hides(k.Namespace):
		return r.hidden()
	case o == nil:
		return apierrors.NewNotFound(gr, k.Name)
	case n.UID != "" && o.UID != n.UID:
		return apierrors.NewConflict(gr, k.Name, fmt.Errorf("the UID in the precondition is %s, that of the object is %s",
			n.UID, o.UID))
	}
	return nil
}

// hidden is the error for objects that are not known.
func (r *Resource) hidden() error {
	if r.Denied != nil {
		return r.Denied
	}
	return apierrors.NewServiceUnavailable(r.Name() + ": " + r.Unknown)
}

// selected are the objects of a resource that a label selector selects, in the namespace or in all.
func (f *finder) selected(of named, selector labels.Selector) (keys []graph.Key, err error) {
	r, err := f.resource(of)
	if err != nil {
		return nil, err
	}
	namespace := of.Namespace
	if !r.Namespaced {
		namespace = ""
	}
	if r.Hides(namespace) {
		return nil, r.hidden()
	}
	for i := range f.got.Objects {
		o := &f.got.Objects[i]
		if o.Collection == r.Name() && (namespace == "" || o.Key.Namespace == namespace) &&
			selector.Matches(labels.Set(o.Labels)) {
			keys = append(keys, o.Key)
		}
	}
	if len(keys) > MostDeletions {
		return nil, tooMany(len(keys))
	}
	return keys, nil
}
