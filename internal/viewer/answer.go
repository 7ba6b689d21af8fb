package viewer

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// answers serves a question of the page about a cluster that does not answer it.
func (v *Viewer) answers(name string) http.HandlerFunc {
	if name == "graph" {
		return v.stream
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if name == "trail" {
			fail(w, http.StatusNotFound, cluster.ErrNoTrail.Error())
			return
		}
		select {
		case v.questions <- struct{}{}:
			defer func() { <-v.questions }()
		case <-r.Context().Done():
			return
		}
		value, code, err := v.answer(r, name)
		if err != nil {
			fail(w, code, err.Error())
			return
		}
		data, err := json.Marshal(value)
		if err != nil {
			fail(w, http.StatusInternalServerError, err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data) // an error means that the client is gone
	}
}

// errGone: the object of a question does not exist.
var errGone = errors.New("the object does not exist any more")

// answer reads the cluster and answers a question.
func (v *Viewer) answer(r *http.Request, name string) (value any, code int, err error) {
	q := r.URL.Query()
	d, err := v.Client.Discover(r.Context())
	if err != nil {
		return nil, http.StatusBadGateway, err
	}
	c, err := v.Client.Read(r.Context(), d, cluster.Options{Namespace: v.Namespace})
	if err != nil {
		return nil, http.StatusBadGateway, err
	}
	c.Stop = func() bool { return r.Context().Err() != nil }
	if name == "lint" {
		found := c.Lint(q.Get("namespace"))
		if found == nil {
			found = []explain.Finding{}
		}
		return map[string]any{"items": found}, http.StatusOK, nil
	}
	key := graph.Key{Collection: q.Get("resource"), Namespace: q.Get("namespace"), Name: q.Get("name")}
	there := false
	for i := range c.Objects {
		there = there || c.Objects[i].Key == key && c.Objects[i].UID == q.Get("uid")
	}
	if !there {
		return nil, http.StatusNotFound, errGone
	}
	switch name {
	case "tree":
		value = c.Tree(key)
	case "why":
		value = c.Why(key)
	default:
		deletion := explain.Deletion{Key: key, Options: finalizers.Options{PropagationPolicy: q.Get("propagationPolicy")}}
		p := c.Preview([]explain.Deletion{deletion})
		if p == nil {
			return nil, http.StatusServiceUnavailable, r.Context().Err()
		}
		value = p
	}
	return value, http.StatusOK, nil
}
