package endpoints

import (
	"context"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// EndsBurst has a watch in a burst read the resource's collection when there are no new events, and reports whether the
// burst has ended.
func EndsBurst(ctx context.Context, c *cache.Cache, res *resources.Resource) (bool, error) {
	a := New(Config{Registry: &registry.Registry{Cache: c}})
	q := &request{Operation: registry.Operation{Target: registry.Target{Resource: res}}}
	w := &watch{
		req: q, api: a, rendering: &render.Rendering{Resource: res}, rev: c.Revision(), out: &chunks{begun: true},
		burst: true,
	}
	watcher, err := c.Watch(res.Collection, w.rev)
	if err != nil {
		return false, err
	}
	_, _, ended := w.read(ctx, watcher)
	return !w.burst && !ended, nil
}

// Listed returns what a list of a resource's objects shows that needs not be the newest.
func Listed(ctx context.Context, c *cache.Cache, res *resources.Resource) ([]*storage.Object, error) {
	a := New(Config{Registry: &registry.Registry{Cache: c, Root: storage.DefaultRoot}})
	objects, _, err := a.ListAll(ctx, registry.Target{Resource: res}, &metainternal.ListOptions{ResourceVersion: "0"})
	return objects, err
}
