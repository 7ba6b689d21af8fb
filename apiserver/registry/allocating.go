package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	rand "math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/resources/core"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// allocating carries out a write by store. A service is given its addresses and ports before, as
// upstream does (K pkg/registry/core/service/storage: beginCreate, beginUpdate). Other objects, and
// subresources, it passes on as they are. old is nil for a new object.
//
// No two services are given the same: the write is committed only if no service was written since what
// is taken was read, by whichever server; else it is tried again with what is taken then. Within
// this server such writes take turns, so that they don't drive each other to that. The request's
// deadline bounds the attempts.
func (s *Registry) allocating(ctx context.Context, o *Operation, obj, old Object, store func(*Operation, Object) (*storage.Object, error)) (*storage.Object, error) {
	svc, ok := obj.(*corev1.Service)
	if !ok || o.Subresource != nil {
		return store(o, obj)
	}
	was, _ := old.(*corev1.Service)
	core.KeepAllocated(svc, was)
	if err := allocate.Families(svc, was); err != nil {
		return nil, err
	}
	address, ports := allocate.Wants(svc, was)
	if !address && !ports {
		return store(o, obj)
	}
	select {
	case s.Turn <- struct{}{}:
		defer func() { <-s.Turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for other services: %w", ctx.Err())
	}
	for {
		next := svc.DeepCopy()
		guard, err := s.allocate(ctx, o, next, was, ports)
		if err != nil {
			return nil, err
		}
		guarded := *o
		guarded.guards = append(slices.Clone(o.guards), guard)
		out, err := store(&guarded, next)
		var lost *storage.ConflictError
		if !errors.As(err, &lost) || lost.Guard == nil || !lost.Guard.Below {
			return out, err
		}
	}
}

// allocate fills in what the service wants, and returns what must hold when it is stored.
func (s *Registry) allocate(ctx context.Context, o *Operation, svc, old *corev1.Service, ports bool) (storage.Guard, error) {
	if err := s.Fresh(ctx); err != nil {
		return storage.Guard{}, err
	}
	snap, err := s.Cache.Snapshot(o.Resource.Collection, 0)
	if err != nil {
		return storage.Guard{}, err
	}
	guard := storage.Guard{Key: s.Root + "/" + o.Resource.Collection + "/", ModRevision: snap.Revision(), Below: true}
	taken := s.taken(o.Resource, snap, ports)
	if o.DryRun {
		return guard, allocate.Sample(svc, old, taken)
	}
	return guard, allocate.Fill(svc, old, taken, rand.IntN)
}

// taken reads what the stored services have; ports only if they are asked for.
func (s *Registry) taken(res *resources.Resource, snap *cache.Snapshot, ports bool) *allocate.Taken {
	taken := s.Services.Taken()
	address, kind := slices.Index(res.FieldNames, "spec.clusterIP"), slices.Index(res.FieldNames, "spec.type")
	snap.Ascend("", "", func(item *storage.Object) bool {
		if item.Err != nil {
			s.Unreadable(item.Key, item.Err, "its cluster IPs and node ports are unknown")
			return true
		}
		taken.AddAddress(item.Fields[address])
		switch t := corev1.ServiceType(item.Fields[kind]); {
		case !ports, t != corev1.ServiceTypeNodePort && t != corev1.ServiceTypeLoadBalancer:
			return true
		}
		var svc struct{ Spec corev1.ServiceSpec }
		if err := json.Unmarshal(item.JSON, &svc); err != nil {
			s.Unreadable(item.Key, err, "its node ports are unknown")
			return true
		}
		taken.AddPorts(&svc.Spec)
		return true
	})
	return taken
}
