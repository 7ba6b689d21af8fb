package podspec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// portWarnings are for ports of more than one container. They stop when no more would be sent.
func portWarnings(at *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var l invalid.Warnings
	var ports ports
	for _, c := range places(at, s) {
		for i := range c.Ports {
			if l.Full() {
				return l.Added()
			}
			p, path := &c.Ports[i], c.at.Child("ports").Index(i)
			if p.HostIP != "" && p.HostPort == 0 {
				l.Add(fmt.Sprintf("%s: hostIP set without hostPort: {Name:%s HostPort:%d ContainerPort:%d Protocol:%s HostIP:%s}",
					path, p.Name, p.HostPort, p.ContainerPort, p.Protocol, p.HostIP))
			}
			for _, other := range ports.candidates(p) {
				if how := clash(p, ports.all[other].port); how != "" && !l.Full() {
					l.Add(fmt.Sprintf("%s: %s port definition with %s", path, how, ports.all[other].at))
				}
			}
			ports.add(p, path)
		}
	}
	return l.Added()
}

// ports finds the definitions of a port that may conflict without comparing all pairs.
type ports struct {
	all []definition
	// by has the indices of the definitions, in order: by number, by number and host port, and by these and an address.
	by map[portKey][]int
}

func (x *ports) add(p *corev1.ContainerPort, at *field.Path) {
	if x.by == nil {
		x.by = map[portKey][]int{}
	}
	for _, key := range []portKey{
		{number: p.ContainerPort, protocol: p.Protocol, anyHost: true},
		{number: p.ContainerPort, protocol: p.Protocol, host: p.HostPort, anyIP: true},
		{number: p.ContainerPort, protocol: p.Protocol, host: p.HostPort, ip: p.HostIP},
	} {
		x.by[key] = append(x.by[key], len(x.all))
	}
	x.all = append(x.all, definition{p, at})
}

// candidates returns the indices of the earlier definitions that conflict with p, in order.
func (x *ports) candidates(p *corev1.ContainerPort) []int {
	same := portKey{number: p.ContainerPort, protocol: p.Protocol}
	if p.HostPort == 0 {
		same.anyHost = true
		return x.by[same]
	}
	noHost := same
	noHost.anyIP = true
	same.host = p.HostPort
	found := slices.Clone(x.by[noHost])
	if p.HostIP == "" {
		same.anyIP = true
		found = append(found, x.by[same]...)
	} else {
		found = append(found, x.by[same]...)
		same.ip = p.HostIP
		found = append(found, x.by[same]...)
	}
	slices.Sort(found)
	return found
}

// definition is a container's port and its path.
type definition struct {
	port *corev1.ContainerPort
	at   *field.Path
}

// portKey is the common part of definitions.
type portKey struct {
	number   int32
	protocol corev1.Protocol
	anyHost  bool
	host     int32
	anyIP    bool
	ip       string
}

// clash describes the conflict of two definitions of a port.
func clash(p, other *corev1.ContainerPort) string {
	switch {
	case p.HostIP == other.HostIP && p.HostPort == other.HostPort:
		return "duplicate"
	case p.HostPort == 0 || other.HostPort == 0:
		return "overlapping"
	case p.HostPort == other.HostPort && (p.HostIP == "") != (other.HostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}
