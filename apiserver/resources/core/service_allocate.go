package core

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// wantsAddress reports whether a service needs a new cluster IP: it is new, or it was an ExternalName.
func wantsAddress(s, old *corev1.Service) bool {
	if s.Spec.Type == corev1.ServiceTypeExternalName || isHeadlessService(s) {
		return false
	}
	return old == nil || old.Spec.Type == corev1.ServiceTypeExternalName
}

func wantsPorts(s *corev1.ServiceSpec, old *corev1.Service) bool {
	if !hasNodePort(s) {
		return false
	}
	had := map[int32]bool{}
	if old != nil {
		had = check.Set(nodePorts(&old.Spec)...)
	}
	return slices.ContainsFunc(s.Ports, func(p corev1.ServicePort) bool {
		return p.NodePort == 0 && everyPort(s) || p.NodePort != 0 && !had[p.NodePort]
	})
}

// everyPort reports whether all ports need a node port. A load balancer can disable node ports.
func everyPort(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeNodePort || s.AllocateLoadBalancerNodePorts == nil ||
		*s.AllocateLoadBalancerNodePorts
}

func wantsHealthCheck(s, old *corev1.Service) bool {
	return hasHealthCheck(&s.Spec) && (old == nil || !hasHealthCheck(&old.Spec))
}

// fillService allocates the addresses and ports that the service needs. setFamilies must have processed the service.
// Errors are API errors. After an error the service must not be used.
func fillService(s, old *corev1.Service, from allocate.Source) error {
	if wantsAddress(s, old) {
		if err := fillAddress(s, from); err != nil {
			return err
		}
	}
	if hasNodePort(&s.Spec) {
		ports := fillPorts
		if old != nil {
			ports = changePorts
		}
		if err := ports(s, old, from); err != nil {
			return err
		}
	}
	if wantsHealthCheck(s, old) {
		return fillHealthCheck(&s.Spec, from)
	}
	return nil
}

func fillAddress(s *corev1.Service, from allocate.Source) error {
	spec := &s.Spec
	if len(spec.ClusterIPs) > 0 && spec.ClusterIPs[0] != "" {
		ip := spec.ClusterIPs[0]
		if err := from.ClaimAddress(ip); err != nil {
			return invalidService(s, field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs"), spec.ClusterIPs,
				fmt.Sprintf("failed to allocate IP %v: %v", ip, err))})
		}
		spec.ClusterIP = ip
		return nil
	}
	ip, err := from.NextAddress()
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP: %v", err))
	}
	spec.ClusterIP, spec.ClusterIPs = ip, []string{ip}
	return nil
}

// fillPorts allocates the node ports of a new service. Ports with the same number and different protocols share one
// (initNodePorts).
func fillPorts(s, _ *corev1.Service, from allocate.Source) error {
	chosen, named := map[int32]int32{}, namedPorts(s.Spec.Ports)
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		if p.NodePort == 0 && !everyPort(&s.Spec) {
			continue
		}
		have := chosen[p.Port]
		switch {
		case have == 0:
			if named[p.Port] != 0 {
				p.NodePort = named[p.Port]
				if err := claimPort(s, i, from); err != nil {
					return err
				}
			} else if err := nextPort(p, from); err != nil {
				return err
			}
			chosen[p.Port] = p.NodePort
		case p.NodePort == 0:
			p.NodePort = have
		case p.NodePort != have:
			if err := claimPort(s, i, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// namedPorts returns the first requested node port for each port number.
func namedPorts(ports []corev1.ServicePort) map[int32]int32 {
	named := map[int32]int32{}
	for i := range ports {
		if p := &ports[i]; p.NodePort != 0 && named[p.Port] == 0 {
			named[p.Port] = p.NodePort
		}
	}
	return named
}

// changePorts allocates the missing node ports of a stored service (updateNodePorts).
func changePorts(s, old *corev1.Service, from allocate.Source) error {
	type use struct {
		Protocol corev1.Protocol
		NodePort int32
	}
	had, used := check.Set(nodePorts(&old.Spec)...), map[use]bool{} // used: kept from before, or allocated here
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		switch {
		case p.NodePort == 0 && !everyPort(&s.Spec):
			continue
		case p.NodePort == 0:
			if err := nextPort(p, from); err != nil {
				return err
			}
		case !had[p.NodePort]:
			if err := claimPort(s, i, from); err != nil {
				return err
			}
			had[p.NodePort] = true
		}
		u := use{p.Protocol, p.NodePort}
		if used[u] {
			return fmt.Errorf("duplicate nodePort: %v", u)
		}
		used[u] = true
	}
	return nil
}

// claimPort allocates the requested node port of the i-th port.
func claimPort(s *corev1.Service, i int, from allocate.Source) error {
	port := s.Spec.Ports[i].NodePort
	if err := from.ClaimPort(port); err != nil {
		at := field.NewPath("spec", "ports").Index(i).Child("nodePort")
		return invalidService(s, field.ErrorList{field.Invalid(at, port, err.Error())})
	}
	return nil
}

func nextPort(p *corev1.ServicePort, from allocate.Source) (err error) {
	if p.NodePort, err = from.NextPort(); err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %v", err))
	}
	return nil
}

func fillHealthCheck(s *corev1.ServiceSpec, from allocate.Source) (err error) {
	if s.HealthCheckNodePort != 0 {
		if err := from.ClaimPort(s.HealthCheckNodePort); err != nil {
			return apierrors.NewInternalError(fmt.Errorf("failed to allocate requested HealthCheck NodePort %v: %v",
				s.HealthCheckNodePort, err))
		}
		return nil
	}
	if s.HealthCheckNodePort, err = from.NextPort(); err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a HealthCheck NodePort %v: %v",
			s.HealthCheckNodePort, err))
	}
	return nil
}
