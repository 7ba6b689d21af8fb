package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Answer reads a cluster and answers a question: an *explain.Tree, *explain.Reason, *explain.Preview or
// []explain.Finding. Errors are those of a server: 400, 403, 404 (unless absent objects are left out), and 409 if a uid is
// another one; or that of the context.
func Answer(ctx context.Context, from Source, d *Discovery, ask *Question, o Options) (any, error) {
	got, err := Read(ctx, from, d, o)
	if err != nil {
		return nil, err
	}
	got.Stop = func() bool { return ctx.Err() != nil }
	if ask.Path == "lint" {
		return got.Lint(ask.Namespace), nil
	}
	keys, absent, err := (&finder{d, got}).keys(ask)
	if err != nil {
		return nil, err
	}
	switch ask.Path {
	case "tree":
		return got.Tree(keys[0]), nil
	case "why":
		return got.Why(keys[0]), nil
	}
	deletions := make([]explain.Deletion, len(keys))
	for i, k := range keys {
		deletions[i] = explain.Deletion{Key: k, Options: ask.Options}
	}
	p := got.Preview(deletions)
	if p == nil {
		return nil, ctx.Err()
	}
	p.Absent = absent
	return p, nil
}

// ErrNotAnswered: the server has no answers to questions, or not for this user, or not for one that large. Read the
// lists instead.
var ErrNotAnswered = errors.New("the server doesn't answer this question")

// Ask asks a kubecascade server a question about objects, and decodes the answer. Errors: ErrNotAnswered, also of other
// servers; those of Answer.
func (c *Client) Ask(ctx context.Context, ask *Question, into any) error {
	req, err := ask.request(ctx, c.URL)
	if err != nil {
		return err
	}
	_, body, err := c.Do(req)
	var s *apierrors.StatusError
	switch {
	case err == nil:
	case !errors.As(err, &s), apierrors.IsNotFound(err) && s.ErrStatus.Details != nil && s.ErrStatus.Details.Name != "":
		return err
	case s.ErrStatus.Reason == "" || slices.Contains(unanswered, code(err)):
		return fmt.Errorf("%w: %w", ErrNotAnswered, err)
	default:
		return err
	}
	var answer struct {
		Revision string `json:"resourceVersion"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Revision == "" {
		return fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, ErrNotAnswered)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
	}
	return nil
}

// unanswered are the codes of a Status that sends the client to the lists: the path is not there, the user may not ask
// or may not list the object, the answer is too large.
var unanswered = []int{
	http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusForbidden, http.StatusRequestEntityTooLarge,
}

// finder finds the objects that a question names.
type finder struct {
	d   *Discovery
	got *explain.Cluster
}

// keys are the objects of a question, and those that are left out as they do not exist. Errors: 400, 403, 404, and 409 if
// the uid is another one.
func (f *finder) keys(ask *Question) (keys, absent []graph.Key, err error) {
	if ask.selector != nil {
		keys, err = f.selected(ask.of, ask.selector)
		return keys, nil, err
	}
	all := make([]graph.Key, len(ask.Objects))
	there := map[graph.Key]*explain.Object{}
	for i, n := range ask.Objects {
		if all[i], err = f.key(n); err != nil {
			return nil, nil, err
		}
		there[all[i]] = nil
	}
	for i := range f.got.Objects {
		o := &f.got.Objects[i]
		if _, asked := there[o.Key]; asked {
			there[o.Key] = o
		}
	}
	for i, n := range ask.Objects {
		switch err := f.exists(n, all[i], there[all[i]]); {
		case err == nil:
			keys = append(keys, all[i])
		case ask.IgnoreNotFound && n.Name != "" && apierrors.IsNotFound(err):
			absent = append(absent, all[i])
		default:
			return nil, nil, err
		}
	}
	return keys, absent, nil
}

// resource finds the resource that an object is named by.
func (f *finder) resource(n Named) (*Resource, error) {
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
func (f *finder) key(n Named) (k graph.Key, err error) {
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
func (f *finder) exists(n Named, k graph.Key, o *explain.Object) error {
	r := f.d.Named(k.Collection)
	gr := schema.GroupResource{Group: r.Group, Resource: r.Plural}
	hidden := r.hidden(k.Namespace)
	switch {
	case o == nil && hidden != nil:
		return &hiddenError{fmt.Sprintf("%s %q: %s", k.Collection, k.Name, cmp.Or(r.Unknown, hidden.Error())), hidden}
	case o == nil:
		return apierrors.NewNotFound(gr, k.Name)
	case n.UID != "" && o.UID != n.UID:
		return apierrors.NewConflict(gr, k.Name, fmt.Errorf("the UID in the precondition is %s, that of the object is %s",
			n.UID, o.UID))
	}
	return nil
}

// hiddenError: an object may exist, but is not known. It is the answer of the server that tells why.
type hiddenError struct {
	message string
	error
}

// Error names the object.
func (e *hiddenError) Error() string { return e.message }

// Unwrap returns the answer.
func (e *hiddenError) Unwrap() error { return e.error }

// hidden returns the error for objects of a namespace that may exist, but are not known; nil if all are known.
func (r *Resource) hidden(namespace string) error {
	switch {
	case r.Hides(namespace) && r.Denied == nil:
		return apierrors.NewServiceUnavailable(r.Name() + ": " + r.Unknown)
	case r.Hides(namespace), code(r.Denied) == http.StatusMethodNotAllowed:
		return r.Denied
	}
	return nil
}

// selected are the objects of a resource that a label selector selects, in the namespace or in all.
func (f *finder) selected(of Named, selector labels.Selector) (keys []graph.Key, err error) {
	r, err := f.resource(of)
	if err != nil {
		return nil, err
	}
	namespace := of.Namespace
	if !r.Namespaced {
		namespace = ""
	}
	if err := r.hidden(namespace); err != nil {
		return nil, err
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
