package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// placed is a container and its path.
type placed struct {
	*corev1.Container
	at *field.Path
}

// places lists all containers and their paths, in the order of Containers.
func places(at *field.Path, s *corev1.PodSpec) []placed {
	var list []placed
	all := Containers(s)
	for _, part := range []struct {
		name string
		n    int
	}{
		{"initContainers", len(s.InitContainers)}, {"containers", len(s.Containers)},
		{"ephemeralContainers", len(s.EphemeralContainers)},
	} {
		for i := range part.n {
			list = append(list, placed{all[0], at.Child("spec", part.name).Index(i)})
			all = all[1:]
		}
	}
	return list
}

// containerWarnings are for annotations that became fields, fractions of bytes, and variables that hide others.
func containerWarnings(at *field.Path, s *corev1.PodSpec, m *metav1.ObjectMeta) []string {
	var texts []string
	for _, c := range places(at, s) {
		if c.SecurityContext == nil || c.SecurityContext.SeccompProfile == nil {
			texts = append(texts, seccompWarnings(at, m, corev1.SeccompContainerAnnotationKeyPrefix+c.Name)...)
		}
		confined := PodAppArmor(s) != nil || c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil
		key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
		if _, ok := m.Annotations[key]; ok && at != nil && !confined { // for pods, appArmorWarnings has this warning
			texts = append(texts, DeprecatedAppArmor(at, key))
		}
		limits, requests := c.at.Child("resources", "limits"), c.at.Child("resources", "requests")
		for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
			texts = append(texts, check.FractionWarnings(limits, c.Resources.Limits, name)...)
			texts = append(texts, check.FractionWarnings(requests, c.Resources.Requests, name)...)
		}
		texts = append(texts, envWarnings(c)...)
	}
	return texts
}

// envWarnings warns of variables that replace an earlier one of the same name without using it.
func envWarnings(c placed) []string {
	var texts []string
	seen := map[string]bool{}
	for i, e := range c.Env {
		ref := "$(" + e.Name + ")"
		if seen[e.Name] && (e.ValueFrom != nil || e.Value == ref || !strings.Contains(e.Value, ref)) {
			texts = append(texts, fmt.Sprintf(
				"%s: hides previous definition of %q, which may be dropped when using apply", c.at.Child("env").Index(i), e.Name,
			))
		}
		seen[e.Name] = true
	}
	return texts
}

func portNameWarnings(at *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var texts []string
	seen := map[string]*field.Path{}
	for _, c := range places(at, s) {
		for i, p := range c.Ports {
			path := c.at.Child("ports").Index(i)
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
