package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Services says where Services and EndpointSlices are read from.
type Services struct {
	// Revision returns the newest revision of the store.
	Revision func(context.Context) (int64, error)
	Cache    *cache.Cache
	Types    *resources.Types
	// Root is the prefix of all keys.
	Root string
}

// Resolver returns the addresses of Services. It may be called from any goroutine.
func (c Services) Resolver() Resolver { return c.resolve }

func (c Services) resolve(ctx context.Context, namespace, name string, port int32) (string, error) {
	rev, err := c.Revision(ctx)
	if err == nil {
		err = c.Cache.Wait(ctx, rev)
	}
	if err != nil {
		return "", fmt.Errorf("looking up service %q: %w", name, err)
	}
	services := c.Types.Lookup("", "v1", "services")
	o, _ := c.Cache.Get(c.Root + "/" + services.Collection + "/" + namespace + "/" + name)
	if o == nil {
		return "", apierrors.NewNotFound(corev1.Resource("service"), name)
	}
	var s corev1.Service
	if err := read(o, &s); err != nil {
		return "", fmt.Errorf("reading service %q: %w", name, err)
	}
	all, err := c.slices(namespace, name)
	if err != nil {
		return "", err
	}
	return address(&s, all, port, rand.IntN)
}

// slices returns the EndpointSlices of a Service, by name. Those that can't be decoded are left out.
func (c Services) slices(namespace, name string) (out []*discoveryv1.EndpointSlice, err error) {
	res := c.Types.Lookup(discoveryv1.GroupName, "v1", "endpointslices")
	snap, err := c.Cache.Snapshot(res.Collection, 0)
	if err != nil {
		return nil, err
	}
	snap.Ascend(c.Root+"/"+res.Collection+"/"+namespace+"/", "", func(o *storage.Object) bool {
		if o.Meta.Labels[discoveryv1.LabelServiceName] != name {
			return true
		}
		e := &discoveryv1.EndpointSlice{}
		if read(o, e) == nil {
			out = append(out, e)
		}
		return true
	})
	return out, nil
}

// read decodes a cached object.
func read(o *storage.Object, into any) error {
	if o.Err != nil {
		return o.Err
	}
	return json.Unmarshal(o.JSON, into)
}
