package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// Options describe this server to clients in the cluster.
type Options struct {
	// SecurePort is the port for HTTPS. NodePort is the node port of the service "kubernetes", or 0.
	SecurePort, NodePort int
	// Advertise is the address of this server for the members of the cluster. If it is not set, or not valid in
	// endpoints, the service "kubernetes" has no endpoint for this server.
	Advertise netip.Addr
	// Shared reports whether other servers may use the store, too.
	Shared bool
	// Trust returns the authorities and headers that extension API servers must trust now. If Trust is nil, nothing is
	// published.
	Trust func() Trust
}

// jobs returns the functions that Check calls.
func (o *Options) jobs(r *registry.Registry) []func(context.Context) error {
	all := []func(context.Context) error{
		func(ctx context.Context) error { return ensureServiceCIDR(ctx, r) },
		func(ctx context.Context) error {
			return ensure(ctx, r, "", "services", metav1.NamespaceDefault, o.service(r.Ranges.Addresses.First().String()))
		},
	}
	if o.published() {
		all = append(all, func(ctx context.Context) error { return o.ensureEndpoints(ctx, r) })
	}
	if o.Trust != nil {
		all = append(all, func(ctx context.Context) error { return ensureTrust(ctx, r, o.Trust(), time.Now()) })
	}
	return all
}

// Check creates the service and the ServiceCIDR "kubernetes" if they were deleted, for example by "kubectl delete all
// --all". It restores the endpoints of the service, and the ConfigMap for extension API servers, to the values of
// Options. The caller calls Check at intervals. Upstream's interval is 10 s (K
// pkg/controlplane/controller/kubernetesservice/controller.go: Run).
func Check(ctx context.Context, r *registry.Registry, o Options) error {
	var errs []error
	for _, job := range o.jobs(r) {
		errs = append(errs, job(ctx))
	}
	return errors.Join(errs...)
}

// errSame means that an object needs no change.
var errSame = errors.New("bootstrap: the object needs no change")

// put creates an object, or changes the stored one. If the resource has a subresource, as in "servicecidrs/status", put
// changes the subresource. change gets the new object, or the latest state of the stored one. It returns false if the
// stored object needs no change.
func put[T any, P interface {
	*T
	registry.Object
}](ctx context.Context, r *registry.Registry, group, resource string, fresh P, change func(P) (bool, error)) error {
	l := r.AsServer(managers[group])
	plural, subresource, _ := strings.Cut(resource, "/")
	p := registry.Path{
		Resource: r.Types.Lookup(group, "v1", plural), Subresource: subresource,
		Namespace: fresh.GetNamespace(), Name: fresh.GetName(),
	}
	stored, err := l.Get(ctx, p)
	if apierrors.IsNotFound(err) {
		if _, err := change(fresh); err != nil {
			return err
		}
		collection := registry.Path{Resource: p.Resource, Namespace: p.Namespace}
		if _, err = l.Create(ctx, collection, fresh); !apierrors.IsAlreadyExists(err) {
			return nameError(err, p)
		}
	} else if err != nil {
		return nameError(err, p)
	} else if now := P(new(T)); json.Unmarshal(stored.JSON, now) == nil {
		if differs, err := change(now); err != nil || !differs {
			return err
		}
	}
	_, err = l.Change(ctx, p, func(old runtime.Object) (runtime.Object, error) {
		now, ok := old.(P)
		if !ok {
			return nil, fmt.Errorf("%T is not a %T", old, fresh)
		}
		if differs, err := change(now); err != nil || !differs {
			return nil, errors.Join(err, errSame)
		}
		return now, nil
	})
	if errors.Is(err, errSame) {
		return nil
	}
	return nameError(err, p)
}

// meta returns the metadata of a new object.
func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}
