package endpoints

import (
	"context"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Listed returns what a list of a resource's objects shows that needs not be the newest.
func Listed(ctx context.Context, c *cache.Cache, res *resources.Resource) ([]*storage.Object, error) {
	a := New(Config{Registry: &registry.Registry{Data: registry.Data{Cache: c, Root: storage.DefaultRoot}}})
	objects, _, err := a.ListAll(ctx, registry.Target{Resource: res}, &metainternal.ListOptions{ResourceVersion: "0"})
	return objects, err
}
