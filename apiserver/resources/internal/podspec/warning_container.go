package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// containerWarnings are for annotations that became fields, fractions of bytes, and variables that hide others.
func containerWarnings(at *field.Path, s *corev1.PodSpec, m *metav1.ObjectMeta) []string {
	var texts []string
	for c, path := range Containers(s, at.Child("spec")) {
		if check.ValueOf(c.SecurityContext).SeccompProfile == nil {
			texts = append(texts, seccompWarnings(at, m, corev1.SeccompContainerAnnotationKeyPrefix+c.Name)...)
		}
		confined := PodAppArmor(s) != nil || check.ValueOf(c.SecurityContext).AppArmorProfile != nil
		key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
		if _, ok := m.Annotations[key]; ok && at != nil && !confined { // for pods, appArmorWarnings has this warning
			texts = append(texts, DeprecatedAppArmor(at, key))
		}
		limits, requests := path.Child("resources", "limits"), path.Child("resources", "requests")
		for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
			texts = append(texts, check.FractionWarnings(limits, c.Resources.Limits, name)...)
			texts = append(texts, check.FractionWarnings(requests, c.Resources.Requests, name)...)
		}
		texts = append(texts, envWarnings(c.Env, path.Child("env"))...)
	}
	return texts
}

// envWarnings warns of variables that replace an earlier one of the same name without using it.
func envWarnings(vars []corev1.EnvVar, at *field.Path) []string {
	var texts []string
	seen := map[string]bool{}
	for i, e := range vars {
		ref := "$(" + e.Name + ")"
		if seen[e.Name] && (e.ValueFrom != nil || e.Value == ref || !strings.Contains(e.Value, ref)) {
			texts = append(texts, fmt.Sprintf(
				"%s: hides previous definition of %q, which may be dropped when using apply", at.Index(i), e.Name,
			))
		}
		seen[e.Name] = true
	}
	return texts
}

func portNameWarnings(at *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var texts []string
	seen := map[string]*field.Path{}
	for c, at := range Containers(s, at.Child("spec")) {
		for i, p := range c.Ports {
			path := at.Child("ports").Index(i)
			switch first := seen[p.Name]; {
			case p.Name == "":
			case first == nil:
				seen[p.Name] = path
			default:
				texts = append(texts,
					fmt.Sprintf("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s",
						path, p.Name, first, first))
			}
		}
	}
	return texts
}

// portWarnings are for ports of more than one container. They stop when no more would be sent.
func portWarnings(at *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var l invalid.Warnings
	var ports ports
	for c, at := range Containers(s, at.Child("spec")) {
		for i := range c.Ports {
			if l.Full() {
				return l.Added()
			}
			p, path := &c.Ports[i], at.Child("ports").Index(i)
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
func (x *ports) candidates(p *corev1.ContainerPort) (found []int) {
	add := func(key portKey) {
		key.number, key.protocol = p.ContainerPort, p.Protocol
		found = append(found, x.by[key]...)
	}
	switch {
	case p.HostPort == 0:
		add(portKey{anyHost: true})
	case p.HostIP == "":
		add(portKey{anyIP: true})
		add(portKey{host: p.HostPort, anyIP: true})
	default:
		add(portKey{anyIP: true})
		add(portKey{host: p.HostPort})
		add(portKey{host: p.HostPort, ip: p.HostIP})
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
