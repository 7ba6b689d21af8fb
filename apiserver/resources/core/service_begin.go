package core

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/storage"
)

// beginService allocates a service's addresses and ports before it is stored, as upstream does (K
// pkg/registry/core/service/storage: beginCreate, beginUpdate).
//
// No two services get the same ones: the write is committed only if no server has written a service since the
// allocations were read; else they are read again and the service is filled again. Within one server such writes take
// turns, so that they don't cause such conflicts. The request's deadline bounds the attempts.
//
// There is nothing to undo: only a stored service has an address.
func beginService(ctx context.Context, w entry.Write, obj, old entry.Object) (entry.Begun, error) {
	s := obj.(*corev1.Service)
	was, _ := old.(*corev1.Service)
	keepAllocations(s, was)
	if err := setFamilies(s, was); err != nil {
		return entry.Begun{}, err
	}
	address, ports := wantsAllocations(s, was)
	if !address && !ports {
		return entry.Begun{}, nil
	}
	release, err := w.Turn(ctx)
	if err != nil {
		return entry.Begun{}, fmt.Errorf("waiting for other services: %w", err)
	}
	return entry.Begun{
		Fill: func(ctx context.Context, obj entry.Object) ([]storage.Guard, error) {
			taken, guard, err := readAllocations(ctx, w, ports)
			switch {
			case err != nil:
				return nil, err
			case w.DryRun():
				err = sampleService(obj.(*corev1.Service), was, taken)
			default:
				err = fillService(obj.(*corev1.Service), was, taken, rand.IntN)
			}
			return []storage.Guard{guard}, err
		},
		Finish: func(error) { release() },
	}, nil
}

// readAllocations returns the allocations of the stored services, with their ports only if they are needed, and the
// guard that holds as long as no service is written.
func readAllocations(ctx context.Context, w entry.Write, ports bool) (*allocate.Taken, storage.Guard, error) {
	taken := w.Ranges().Taken()
	fields := []string{"spec.clusterIP", "spec.type"}
	guard, err := w.Scan(ctx, fields, func(item *storage.Object, values []string) {
		if item.Err != nil {
			w.Unreadable(item.Key, item.Err, "its cluster IPs and node ports are unknown")
			return
		}
		taken.AddAddress(values[0])
		var s struct{ Spec corev1.ServiceSpec }
		if s.Spec.Type = corev1.ServiceType(values[1]); !ports || !hasNodePort(&s.Spec) {
			return
		}
		if err := json.Unmarshal(item.JSON, &s); err != nil {
			w.Unreadable(item.Key, err, "its node ports are unknown")
			return
		}
		addPorts(taken, &s.Spec)
	})
	return taken, guard, err
}

// addPorts records a service's node ports, including the one for health checks.
func addPorts(taken *allocate.Taken, s *corev1.ServiceSpec) {
	for _, p := range append(nodePorts(s), s.HealthCheckNodePort) {
		taken.AddPort(p)
	}
}
