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

// Findings are the answer of lint. Revision is that of the Cluster, and Hidden has the resources whose objects are not
// known.
type Findings struct {
	Revision int64             `json:"resourceVersion,omitempty,string"`
	Items    []explain.Finding `json:"items"` // not nil
	Hidden   []explain.Hidden  `json:"notListed,omitempty"`
}

// Answer reads a cluster and answers a question: an *explain.Tree, *explain.Reason, *explain.Preview or *Findings.
// Errors are those of a server (400, 403, 404, and 409 if a uid is another one), or of the context.
func Answer(ctx context.Context, from Source, ask *Question, o Options) (any, error) {
	got, d, err := Read(ctx, from, o)
	if err != nil {
		return nil, err
	}
	got.Stop = func() bool { return ctx.Err() != nil }
	x := got.Index()
	if ask.Path == "lint" {
		return &Findings{got.Revision, append([]explain.Finding{}, x.Lint(ask.Namespace)...), got.Hidden()}, nil
	}
	keys, absent, err := finder{d, x, got.Objects}.keys(ask)
	if err != nil {
		return nil, err
	}
	switch ask.Path {
	case "tree":
		return x.Tree(keys[0]), nil
	case "why":
		return x.Why(keys[0]), nil
	}
	if o.MostDeletions > 0 && len(keys) > o.MostDeletions {
		return nil, tooMany(len(keys))
	}
	p := x.Preview(keys, ask.Options)
	if p == nil {
		return nil, ctx.Err()
	}
	p.Absent = absent
	if ask.Selector != nil {
		p.Selected = len(keys)
	}
	return p, nil
}

// ErrNotAnswered reports that the server does not answer questions, or not those of this user, or none that is so
// large. Read the lists instead.
var ErrNotAnswered = errors.New("the server doesn't answer this question")

// Ask sends a question about objects to the server, and decodes the answer. The errors are those of Answer, and
// ErrNotAnswered, for example if the server is not kubecascade.
func (c *Client) Ask(ctx context.Context, ask *Question, into any) error {
	req, err := ask.request(ctx, c)
	if err != nil {
		return err
	}
	body, err := c.Do(req)
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
	if json.Unmarshal(body, &answer) != nil || answer.Revision == "" || json.Unmarshal(body, into) != nil {
		return fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, ErrNotAnswered)
	}
	return nil
}

// unanswered has the codes of a Status after which the client reads lists instead: the path does not exist, the user
// may not use it or may not list the object, the answer is too large, or this server does not know the
// objects, as an aggregated server has them.
var unanswered = []int{
	http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusForbidden, http.StatusRequestEntityTooLarge,
	http.StatusServiceUnavailable,
}

// finder finds the objects that a question names.
type finder struct {
	*Discovery
	*explain.Index
	objects []*explain.Object
}

// keys returns the objects of a question, each once, and those that are left out because they do not exist. Errors:
// 400, 403, 404, and 409 if the uid is another one.
func (f finder) keys(ask *Question) (keys, absent []graph.Key, err error) {
	seen := map[graph.Key]bool{}
	add := func(list *[]graph.Key, k graph.Key) {
		if !seen[k] {
			*list = append(*list, k)
		}
		seen[k] = true
	}
	for _, n := range ask.Objects {
		if ask.Selector != nil {
			err = f.selected(n, ask.Selector, func(k graph.Key) { add(&keys, k) })
			if err != nil {
				return nil, nil, err
			}
			continue
		}
		switch k, err := f.key(n); {
		case err == nil:
			add(&keys, k)
		case ask.IgnoreNotFound && k.Name != "" && apierrors.IsNotFound(err):
			add(&absent, k)
		default:
			return nil, nil, err
		}
	}
	return keys, absent, nil
}

// key returns the key of an object by its name, or else by its uid.
func (f finder) key(n Named) (k graph.Key, err error) {
	if n.Name == "" && n.UID != "" {
		i := slices.IndexFunc(f.objects, func(o *explain.Object) bool { return o.UID == n.UID })
		if i < 0 {
			return k, apierrors.NewNotFound(schema.GroupResource{Resource: "uid"}, n.UID)
		}
		return f.objects[i].Key, nil
	}
	r, err := f.Resource(n)
	switch {
	case err != nil:
		return k, err
	case n.Name == "":
		return k, status.ErrEmptyName
	case !r.Namespaced:
		n.Namespace = ""
	case n.Namespace == "":
		return k, status.BadRequest("%s are namespaced: a namespace is required", r.Name())
	}
	k = graph.Key{Collection: r.Name(), Namespace: n.Namespace, Name: n.Name}
	gr := schema.GroupResource{Group: r.Group, Resource: r.Plural}
	hidden := r.hidden(cmp.Or(k.Namespace, k.Name)) // a namespace may be read by its name
	switch o := f.Object(k); {
	case o == nil && hidden != nil:
		return k, hidden
	case o == nil:
		absent := apierrors.NewNotFound(gr, k.Name)
		absent.ErrStatus.Message = NotFound(k)
		return k, absent
	case n.UID != "" && o.UID != n.UID:
		return k, apierrors.NewConflict(gr, k.Name, fmt.Errorf("the UID in the precondition is %s, that of the object is %s",
			n.UID, o.UID))
	}
	return k, nil
}

// NotFound returns the message that there is no object at a key.
func NotFound(k graph.Key) string {
	text := fmt.Sprintf("%s %q not found", k.Collection, k.Name)
	if k.Namespace != "" {
		text += " in namespace " + k.Namespace
	}
	return text
}

// hidden returns the error for objects of a namespace that may exist, but are not known; nil if all are known.
func (r *Resource) hidden(namespace string) error {
	switch {
	case r.Hides(namespace) && r.Denied == nil:
		return apierrors.NewServiceUnavailable(r.Name() + ": " + r.Unknown)
	case r.Hides(namespace) && namespace != "":
		return cmp.Or(r.DeniedWithin, r.Denied)
	case r.Hides(namespace), code(r.Denied) == http.StatusMethodNotAllowed:
		return r.Denied
	}
	return nil
}

// selected calls yield with the objects of a resource that a selector selects, in the namespace or in all.
func (f finder) selected(of Named, selector labels.Selector, yield func(graph.Key)) error {
	r, err := f.Resource(of)
	if err != nil {
		return err
	}
	if !r.Namespaced {
		of.Namespace = ""
	}
	if err := r.hidden(of.Namespace); err != nil {
		return err
	}
	for _, o := range f.objects {
		if o.Collection == r.Name() && (of.Namespace == "" || o.Namespace == of.Namespace) &&
			selector.Matches(labels.Set(o.Labels)) {
			yield(o.Key)
		}
	}
	return nil
}
