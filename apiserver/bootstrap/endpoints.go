package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/storage"
)

// serviceName is the name of the service, of its Endpoints and of its EndpointSlice.
const serviceName = "kubernetes"

// leaseTTL is the lifetime of the keys in which the servers of a store publish their addresses (K
// pkg/controlplane/instance.go: DefaultEndpointReconcilerTTL).
const leaseTTL = 15 * time.Second

// published reports whether the server publishes its address. The service has only IPv4, and an endpoint's address must
// be valid (K pkg/apis/core/validation/validation.go: ValidateEndpointIP).
func (o *Options) published() bool {
	a := o.Advertise.Unmap()
	return a.Is4() && !a.IsUnspecified() && !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsMulticast()
}

// ensureEndpoints publishes the addresses of this server and of the others that share its store (K
// pkg/controlplane/reconcilers/lease.go: ReconcileEndpoints).
func (o *Options) ensureEndpoints(ctx context.Context, r *registry.Registry) error {
	own := o.Advertise.Unmap().String()
	if !o.Shared {
		return o.publish(ctx, r, []string{own})
	}
	if err := holdLease(ctx, r, own); err != nil {
		return fmt.Errorf("renewing the lease of the address %s: %w", own, err)
	}
	all, err := leased(ctx, r)
	if err != nil || len(all) == 0 { // the own key has just expired; keep the last endpoint, as Withdraw does
		return err
	}
	return o.publish(ctx, r, all)
}

// Withdraw removes the address of a server that shuts down, unless it is the last one (K
// pkg/controlplane/reconcilers/lease.go: RemoveEndpoints).
func Withdraw(ctx context.Context, r *registry.Registry, o Options) error {
	if !o.published() || !o.Shared {
		return nil
	}
	key := leaseKey(r, o.Advertise.Unmap().String())
	rec, err := r.Store.Get(ctx, key)
	if err == nil {
		_, err = r.Store.Commit(ctx, storage.Txn{Key: key, Expect: rec.ModRevision, TTL: leaseTTL})
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("removing the lease of the address %s: %w", o.Advertise, err)
	}
	all, err := leased(ctx, r)
	if err != nil || len(all) == 0 {
		return err
	}
	if err := r.Fresh(ctx); err != nil { // put first reads the cache
		return err
	}
	return o.publish(ctx, r, all)
}

// leaseKey returns the key of an address. It is the same as upstream's.
func leaseKey(r *registry.Registry, address string) string {
	return path.Join(r.Root, "masterleases", address)
}

// holdLease creates or renews the key of an address.
func holdLease(ctx context.Context, r *registry.Registry, address string) error {
	value, err := json.Marshal(&corev1.Endpoints{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Endpoints"},
		Subsets:  []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: address}}}},
	})
	if err != nil {
		return err
	}
	key := leaseKey(r, address)
	rec, err := r.Store.Get(ctx, key)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	_, err = r.Store.Commit(ctx, storage.Txn{Key: key, Expect: rec.ModRevision, Value: value, TTL: leaseTTL})
	if other := new(storage.ConflictError); errors.As(err, &other) {
		return nil // a server at the same address has renewed it
	}
	return err
}

// leased returns the addresses of the servers that renew their keys, sorted. It does not read the values, because
// kube-apiserver writes another encoding.
func leased(ctx context.Context, r *registry.Registry) (all []string, err error) {
	prefix := leaseKey(r, "") + "/"
	page, err := r.Store.List(ctx, storage.Range{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	for _, rec := range page.Records {
		if a, err := netip.ParseAddr(strings.TrimPrefix(rec.Key, prefix)); err == nil && a.Is4() {
			all = append(all, a.String())
		}
	}
	slices.Sort(all)
	return all, nil
}

// publish writes the addresses to the Endpoints and to the EndpointSlice, and deletes other slices of the service. If
// this is the only server, it writes its own ports, which may have changed with a restart. Otherwise it keeps the
// existing ports (K pkg/controlplane/reconcilers/endpointsadapter.go: Sync).
func (o *Options) publish(ctx context.Context, r *registry.Registry, addresses []string) error {
	ports := []corev1.EndpointPort{{Name: "https", Port: int32(o.SecurePort), Protocol: corev1.ProtocolTCP}}
	endpoints := &corev1.Endpoints{ObjectMeta: meta(metav1.NamespaceDefault, serviceName)}
	err := put(ctx, r, "", "endpoints", endpoints, func(e *corev1.Endpoints) error {
		e.Labels = map[string]string{discoveryv1.LabelSkipMirror: "true"}
		if len(e.Subsets) != 1 {
			e.Subsets = make([]corev1.EndpointSubset, 1)
		}
		s := &e.Subsets[0]
		s.Addresses = nil
		for _, a := range addresses {
			s.Addresses = append(s.Addresses, corev1.EndpointAddress{IP: a})
		}
		if len(s.Ports) == 0 || len(addresses) == 1 {
			s.Ports = ports
		}
		return nil
	})
	if err != nil {
		return err
	}
	slice := &discoveryv1.EndpointSlice{ObjectMeta: meta(metav1.NamespaceDefault, serviceName)}
	err = put(ctx, r, discoveryv1.GroupName, "endpointslices", slice, func(e *discoveryv1.EndpointSlice) error {
		e.Labels = map[string]string{discoveryv1.LabelServiceName: serviceName}
		e.AddressType, e.Endpoints = discoveryv1.AddressTypeIPv4, nil
		ready := true
		for _, a := range addresses {
			e.Endpoints = append(e.Endpoints, discoveryv1.Endpoint{
				Addresses: []string{a}, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
			})
		}
		if len(e.Ports) == 0 || len(addresses) == 1 {
			p := ports[0]
			e.Ports = []discoveryv1.EndpointPort{{Name: &p.Name, Port: &p.Port, Protocol: &p.Protocol}}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return deleteOtherSlices(ctx, r)
}

// deleteOtherSlices deletes slices of the service that other clients have created.
func deleteOtherSlices(ctx context.Context, r *registry.Registry) error {
	l := r.AsServer(managers[discoveryv1.GroupName])
	p := registry.Path{
		Resource:  r.Types.Lookup(discoveryv1.GroupName, "v1", "endpointslices"),
		Namespace: metav1.NamespaceDefault,
	}
	all, err := l.List(ctx, p)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Meta.Labels[discoveryv1.LabelServiceName] != serviceName || s.Meta.Name == serviceName {
			continue
		}
		p.Name = s.Meta.Name
		if _, err := l.Delete(ctx, p, &metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("deleting the EndpointSlice %s: %w", p.Name, err)
		}
	}
	return nil
}
