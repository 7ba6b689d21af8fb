package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// ErrNotAnswered: the server has no answers to questions, or not for this user, or not for one that large. Read the
// lists instead.
var ErrNotAnswered = errors.New("the server doesn't answer this question")

// ErrNoObject is a NoObjectError.
var ErrNoObject = errors.New("no such object")

// NoObjectError is an answer that there is no object of this name.
type NoObjectError struct{ Name string }

// Error names the object.
func (e *NoObjectError) Error() string { return fmt.Sprintf("%v: %q", ErrNoObject, e.Name) }

// Is makes errors.Is(err, ErrNoObject) hold.
func (e *NoObjectError) Is(target error) bool { return target == ErrNoObject }

// extensions is the path below which a kubecascade server answers questions (package extension).
const extensions = "/kubecascade/v1/"

// Question is a question to a kubecascade server.
type Question struct {
	// Path is tree, why or preview. A tree and a why are of one object.
	Path string
	Keys []graph.Key
	// Namespace is read by itself where the user may not list all namespaces; empty: nothing is.
	Namespace string
	// Options are those of a preview's deletions. IgnoreNotFound leaves objects out that do not exist: they are in
	// Preview.Absent then.
	Options        finalizers.Options
	IgnoreNotFound bool
}

// Ask asks the server a question, and decodes the answer: an *explain.Tree, *explain.Reason or *explain.Preview.
// Errors: ErrNotAnswered, also of other servers; ErrNoObject.
func (c *Client) Ask(ctx context.Context, q Question, into any) error {
	req, err := c.request(ctx, q)
	if err != nil {
		return err
	}
	_, body, err := c.do(req)
	var s *apierrors.StatusError
	switch {
	case err == nil:
	case !errors.As(err, &s):
		return err
	case apierrors.IsNotFound(err) && s.ErrStatus.Details != nil && s.ErrStatus.Details.Name != "":
		return &NoObjectError{Name: s.ErrStatus.Details.Name}
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

// request is a GET for one object, so that users need the verb get only, and a POST for several.
func (c *Client) request(ctx context.Context, q Question) (*http.Request, error) {
	query := url.Values{}
	set := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	set("namespace", q.Namespace)
	set("propagationPolicy", q.Options.PropagationPolicy)
	if n := q.Options.GracePeriodSeconds; n != nil {
		set("gracePeriodSeconds", fmt.Sprint(*n))
	}
	if q.IgnoreNotFound {
		set("ignoreNotFound", "true")
	}
	method, body := http.MethodGet, []byte(nil)
	if len(q.Keys) == 1 && (q.Keys[0].Namespace == "" || q.Keys[0].Namespace == q.Namespace) {
		set("resource", q.Keys[0].Collection)
		set("name", q.Keys[0].Name)
	} else {
		objects := make([]named, len(q.Keys))
		for i, k := range q.Keys {
			objects[i] = named{Resource: k.Collection, Namespace: k.Namespace, Name: k.Name}
		}
		var err error
		if body, err = json.Marshal(map[string]any{"objects": objects}); err != nil {
			return nil, err
		}
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, c.URL+extensions+q.Path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}
