package core

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/storage"
)

// beginService allocates a service's addresses and ports before it is stored, as upstream does (K
// pkg/registry/core/service/storage: beginCreate, beginUpdate).
//
// Two services never get the same address or port. The write is committed only if, since the allocations were read, no
// server has written a service or a ServiceCIDR, and no client has created the address's IPAddress. Otherwise the
// allocations are read again and the service is filled again, until the request's deadline. Writes of services within
// one server take turns, so that they don't cause such conflicts.
//
// There is nothing to undo, because an address belongs to a service only when the service is stored.
func beginService(ctx context.Context, w entry.Write, obj, old entry.Object) (entry.Begun, error) {
	s := obj.(*corev1.Service)
	was, _ := old.(*corev1.Service)
	keepAllocations(s, was)
	if err := setFamilies(s, was); err != nil {
		return entry.Begun{}, err
	}
	address, ports := wantsAddress(s, was), wantsPorts(&s.Spec, was) || wantsHealthCheck(s, was)
	if !address && !ports {
		return entry.Begun{}, nil
	}
	release, err := w.Turn(ctx)
	if err != nil {
		return entry.Begun{}, fmt.Errorf("waiting for other services: %w", err)
	}
	return entry.Begun{
		Fill: func(ctx context.Context, obj entry.Object) ([]storage.Guard, error) {
			s := obj.(*corev1.Service)
			have, err := readAllocations(ctx, w, ports)
			if err != nil {
				return nil, err
			}
			var from allocate.Source = have.taken
			if w.DryRun() {
				from = have.taken.Sample()
			}
			err = fillService(s, was, from)
			if address {
				have.guards = append(have.guards, have.unclaimed(s.Spec.ClusterIP))
			}
			return have.guards, err
		},
		Finish: func(error) { release() },
	}, nil
}

// allocations are the addresses and ports of the stored services and IPAddresses.
type allocations struct {
	taken *allocate.Taken
	// guards hold while no service and no ServiceCIDR is written.
	guards []storage.Guard
	// addresses is the guard for all IPAddresses.
	addresses storage.Guard
}

// unclaimed returns the guard that holds while no client creates the IPAddress of an address.
func (a *allocations) unclaimed(ip string) storage.Guard {
	return storage.Guard{Key: a.addresses.Key + ip, ModRevision: a.addresses.ModRevision, Held: true}
}

// readAllocations returns the allocations. It omits the services' ports if they are not needed.
func readAllocations(ctx context.Context, w entry.Write, ports bool) (*allocations, error) {
	if err := w.Fresh(ctx); err != nil {
		return nil, err
	}
	ranges, cidrs, err := readRanges(w)
	if err != nil {
		return nil, err
	}
	taken := allocate.NewTaken(ranges, w.Ranges().Ports, rand.IntN)
	services, err := readServices(w, taken, ports)
	if err != nil {
		return nil, err
	}
	addresses, err := readAddresses(w, taken)
	return &allocations{taken, []storage.Guard{cidrs, services}, addresses}, err
}

// readRanges returns the IPv4 ranges of the ServiceCIDRs that are not being deleted and whose condition Ready is True,
// or missing as in a cluster without its controller (K ipallocator/cidrallocator.go: syncAllocators, isReady). Without
// any ServiceCIDR it returns the range of the server's flag.
func readRanges(w entry.Write) (ranges []allocate.Addresses, guard storage.Guard, err error) {
	empty := true
	guard, err = w.Scan(networkingv1.SchemeGroupVersion.WithResource("servicecidrs"), nil,
		func(item *storage.Object, _ []string) {
			empty = false
			var c networkingv1.ServiceCIDR
			if err := decode(item, &c); err != nil {
				w.Unreadable(item.Key, err, "no cluster IP is allocated from it")
				return
			}
			ready := meta.FindStatusCondition(c.Status.Conditions, networkingv1.ServiceCIDRConditionReady)
			if c.DeletionTimestamp != nil || ready != nil && ready.Status != metav1.ConditionTrue {
				return
			}
			for _, cidr := range c.Spec.CIDRs {
				if a, ok := allocate.ParseRange(cidr); ok {
					ranges = append(ranges, a)
				}
			}
		})
	if empty {
		ranges = []allocate.Addresses{w.Ranges().Addresses}
	}
	return ranges, guard, err
}

// readServices records the allocations of the stored services.
func readServices(w entry.Write, taken *allocate.Taken, ports bool) (storage.Guard, error) {
	fields := []string{"spec.clusterIP", "spec.type"}
	return w.Scan(corev1.SchemeGroupVersion.WithResource("services"), fields,
		func(item *storage.Object, values []string) {
			if item.Err != nil {
				w.Unreadable(item.Key, item.Err, "its cluster IPs and node ports are unknown")
				return
			}
			taken.AddAddress(values[0])
			var s struct{ Spec corev1.ServiceSpec }
			if s.Spec.Type = corev1.ServiceType(values[1]); !ports || !hasNodePort(&s.Spec) {
				return
			}
			if err := decode(item, &s); err != nil {
				w.Unreadable(item.Key, err, "its node ports are unknown")
				return
			}
			addPorts(taken, &s.Spec)
		})
}

// allocator labels the IPAddresses of cluster IPs (K ipallocator/ipallocator.go: ControllerName).
const allocator = "ipallocator.k8s.io"

// readAddresses records the IPAddresses that belong to no service. The addresses of services are known from the
// services. In contrast, upstream's allocator rejects the address of a deleted service until its IPAddress is deleted,
// too.
func readAddresses(w entry.Write, taken *allocate.Taken) (storage.Guard, error) {
	return w.Scan(networkingv1.SchemeGroupVersion.WithResource("ipaddresses"), nil,
		func(item *storage.Object, _ []string) {
			if item.Err != nil || item.Meta.Labels[networkingv1.LabelManagedBy] != allocator {
				taken.AddAddress(path.Base(item.Key))
			}
		})
}

func decode(item *storage.Object, into any) error {
	if item.Err != nil {
		return item.Err
	}
	return json.Unmarshal(item.JSON, into)
}

// addPorts records a service's node ports, including that for health checks.
func addPorts(taken *allocate.Taken, s *corev1.ServiceSpec) {
	for _, p := range append(nodePorts(s), s.HealthCheckNodePort) {
		taken.AddPort(p)
	}
}
