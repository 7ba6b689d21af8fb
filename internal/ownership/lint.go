package ownership

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// lint serves the findings of explain.Cluster.Lint, in all that the user may list.
func (s *Service) lint(w http.ResponseWriter, r *http.Request) {
	data, err := s.findings(r)
	if err != nil {
		render.Error(s.config.Log, w, r, err)
		return
	}
	w.Header().Set("Content-Type", codec.MediaJSON)
	render.Body(w, r, http.StatusOK, data)
}

func (s *Service) findings(r *http.Request) (data []byte, err error) {
	q := requestinfo.Query(r)
	for name := range q {
		if name != "namespace" {
			return nil, status.BadRequest("unknown query parameter %q", name)
		}
	}
	ended := s.inTurn(r.Context(), func() {
		var c *explain.Cluster
		for range attempts {
			if c, err = s.everything(r, q.Get("namespace")); !errors.Is(err, cache.ErrExpired) {
				break
			}
		}
		if err != nil {
			return
		}
		found := c.Lint(q.Get("namespace"))
		if found == nil {
			found = []explain.Finding{}
		}
		data, err = json.Marshal(map[string]any{"items": found})
	})
	if ended != nil {
		return nil, ended
	}
	return data, err
}

// everything is the cluster as far as the user may list it.
func (s *Service) everything(r *http.Request, namespace string) (*explain.Cluster, error) {
	f := &source{
		table: newTable(s.config.Types), cache: s.config.Cache, root: s.config.Root, namespace: namespace,
		revision: s.config.Cache.Revision(), snapshots: map[*row]*cache.Snapshot{},
		objects: map[string]*explain.Object{}, most: s.config.MostObjects,
	}
	c := &explain.Cluster{
		Resources: f.permit(s.config.Authorizer(), requestinfo.UserOf(r)), Now: s.config.Now(), Revision: f.revision,
	}
	c.Objects = f.whole()
	switch {
	case f.err != nil:
		return nil, f.err
	case f.overflow:
		return nil, status.Oversized("the cluster has more than %d objects", f.most)
	}
	return c, nil
}

// whole is everything that the user may list, in the form of gc/explain.
func (f *source) whole() (objects []explain.Object) {
	for _, r := range f.table.rows {
		for _, o := range f.under(r, "") {
			objects = append(objects, *o)
		}
	}
	return objects
}
