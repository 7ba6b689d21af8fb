package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// containerWarnings returns warnings for annotations that fields have replaced, fractions of bytes, and variables that
// hide others.
func containerWarnings(at *field.Path, s *corev1.PodSpec, m *metav1.ObjectMeta) []string {
	var texts []string
	for c, path := range Containers(s, at.Child("spec")) {
		if check.ValueOf(c.SecurityContext).SeccompProfile == nil {
			texts = append(texts, seccompWarnings(at, m, corev1.SeccompContainerAnnotationKeyPrefix+c.Name)...)
		}
		confined := PodAppArmor(s) != nil || check.ValueOf(c.SecurityContext).AppArmorProfile != nil
		key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
		if _, ok := m.Annotations[key]; ok && at != nil && !confined { // appArmorWarnings has this warning for pods
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

// envWarnings returns warnings for variables that replace an earlier one of the same name and do not use it.
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

// portWarnings returns warnings for ports of more than one container. It stops when a response has no space for more
// warnings.
func portWarnings(at *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	type definition struct {
		port *corev1.ContainerPort
		at   *field.Path
	}
	var l invalid.Warnings
	var before []definition
	for c, at := range Containers(s, at.Child("spec")) {
		for i := range c.Ports {
			if l.Full() || len(before) == mostCompared {
				return l.Added()
			}
			p, path := &c.Ports[i], at.Child("ports").Index(i)
			if p.HostIP != "" && p.HostPort == 0 {
				l.Add(fmt.Sprintf("%s: hostIP set without hostPort: {Name:%s HostPort:%d ContainerPort:%d Protocol:%s HostIP:%s}",
					path, p.Name, p.HostPort, p.ContainerPort, p.Protocol, p.HostIP))
			}
			for _, other := range before {
				if how := clash(p, other.port); how != "" {
					l.Add(fmt.Sprintf("%s: %s port definition with %s", path, how, other.at))
				}
			}
			before = append(before, definition{p, path})
		}
	}
	return l.Added()
}

// clash returns a description of the conflict between two ports, or an empty string.
func clash(p, other *corev1.ContainerPort) string {
	switch {
	case p.ContainerPort != other.ContainerPort, p.Protocol != other.Protocol:
		return ""
	case p.HostIP == other.HostIP && p.HostPort == other.HostPort:
		return "duplicate"
	case p.HostPort == 0 || other.HostPort == 0:
		return "overlapping"
	case p.HostPort == other.HostPort && (p.HostIP == "") != (other.HostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}
