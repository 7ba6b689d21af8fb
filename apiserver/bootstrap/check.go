package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/storage"
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
			return ensure(ctx, r, "", "services", o.service(r.Ranges.Addresses.First().String()))
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
	errs := []error{r.Fresh(ctx)} // each job first reads the cache
	for _, job := range o.jobs(r) {
		errs = append(errs, job(ctx))
	}
	return errors.Join(errs...)
}

// maxAttempts is the maximum number of attempts for one object if other servers write it at the same time.
const maxAttempts = 8

// put creates an object, or changes the stored one. If the resource has a subresource, as in "servicecidrs/status", put
// changes the subresource. change may change its argument, which is fresh or the decoded stored object. The first
// attempt reads the cache, so that the 140 objects of a new cluster take one request each instead of two.
func put[T registry.Object](ctx context.Context, r *registry.Registry, group, resource string, fresh T,
	change func(T) error) error {
	l := r.AsServer(managers[group])
	plural, subresource, _ := strings.Cut(resource, "/")
	p := registry.Path{
		Resource: r.Types.Lookup(group, "v1", plural), Subresource: subresource,
		Namespace: fresh.GetNamespace(), Name: fresh.GetName(),
	}
	stored, _ := r.Cache.Get(l.Key(p.Resource, p.Namespace, p.Name))
	for attempt := 1; ; attempt++ {
		err := write(ctx, l, p, stored, fresh, change)
		if err == nil {
			return nil
		}
		created := stored == nil
		raced := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || !created && apierrors.IsNotFound(err)
		var again error
		if attempt < maxAttempts && (created || raced) {
			stored, again = l.Get(ctx, p)
			// Another server may have created it with the address that this one could not allocate.
			if again == nil || raced && apierrors.IsNotFound(again) {
				continue
			}
		}
		return fmt.Errorf("creating or updating %s %s: %w", plural, path.Join(p.Namespace, p.Name), err)
	}
}

// errRecreate means that change can't change an object, so that the object must be deleted and created.
var errRecreate = errors.New("bootstrap: the object must be recreated")

// write creates the object if stored is nil. Otherwise it updates the stored object if change changes it.
func write[T registry.Object](ctx context.Context, l *registry.Loopback, p registry.Path, stored *storage.Object,
	fresh T, change func(T) error) error {
	collection := registry.Path{Resource: p.Resource, Namespace: p.Namespace}
	if stored == nil {
		err := change(fresh)
		if err == nil {
			_, err = l.Create(ctx, collection, fresh)
		}
		return err
	}
	o, err := registry.Decode(p.Resource, stored)
	if err != nil {
		return err
	}
	have, before := o.(T), o.DeepCopyObject()
	err = change(have)
	switch {
	case err == nil && !apiequality.Semantic.DeepEqual(before, o):
		_, err = l.Update(ctx, p, have)
	case errors.Is(err, errRecreate):
		uid, rv := have.GetUID(), have.GetResourceVersion()
		same := &metav1.Preconditions{UID: &uid, ResourceVersion: &rv}
		if _, err = l.Delete(ctx, p, &metav1.DeleteOptions{Preconditions: same}); err == nil {
			_, err = l.Create(ctx, collection, fresh)
		}
	}
	return err
}

// ensure creates an object unless it exists.
func ensure(ctx context.Context, r *registry.Registry, group, plural string, obj registry.Object) error {
	return put(ctx, r, group, plural, obj, func(registry.Object) error { return nil })
}

// meta returns the metadata of a new object.
func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}
