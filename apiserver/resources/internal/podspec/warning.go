package podspec

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// NameWarnings returns warnings for a name that is not a DNS label, because host names of pods begin with it.
func NameWarnings(use, name string) []string {
	msgs := validation.IsDNS1123Label(name)
	if len(msgs) == 0 {
		return nil
	}
	return []string{fmt.Sprintf(
		"metadata.name: this is used in %s, which can result in surprising behavior; a DNS label is recommended: %v", use,
		msgs,
	)}
}

// SpecWarnings returns the warnings of upstream's warningsForPodSpecAndMeta; at is nil for pods.
func SpecWarnings(at *field.Path, s *corev1.PodSpec, m *metav1.ObjectMeta) []string {
	var texts []string
	for _, part := range []func(*field.Path, *corev1.PodSpec, *metav1.ObjectMeta) []string{
		placementWarnings, annotationWarnings, podVolumeWarnings, overlapWarnings, listWarnings,
		containerWarnings, portWarnings, portNameWarnings, graceWarnings, affinityWarnings, dnsWarnings,
	} {
		texts = append(texts, part(at, s, m)...)
	}
	return texts
}

const matchesNothing = "%s: a null labelSelector results in matching no pod"

// placementWarnings returns warnings for deprecated node labels and for selectors that match nothing.
func placementWarnings(at *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(s.NodeSelector)) {
		if why, ok := check.DeprecatedLabels[key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s", at.Child("spec", "nodeSelector").Key(key), why))
		}
	}
	nodes, path := check.ValueOf(check.ValueOf(s.Affinity).NodeAffinity), at.Child("spec", "affinity", "nodeAffinity")
	for i, t := range check.ValueOf(nodes.RequiredDuringSchedulingIgnoredDuringExecution).NodeSelectorTerms {
		texts = append(texts, check.TermWarnings(path.Child(required, "nodeSelectorTerms").Index(i), &t, false)...)
	}
	for i, t := range nodes.PreferredDuringSchedulingIgnoredDuringExecution {
		texts = append(texts, check.TermWarnings(path.Child(preferred).Index(i).Child("preference"), &t.Preference, true)...)
	}
	for i, c := range s.TopologySpreadConstraints {
		path := at.Child("spec", "topologySpreadConstraints").Index(i)
		if why, ok := check.DeprecatedLabels[c.TopologyKey]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s is %s", path.Child("topologyKey"), c.TopologyKey, why))
		}
		if c.LabelSelector == nil {
			texts = append(texts, fmt.Sprintf(matchesNothing, path.Child("labelSelector")))
		}
	}
	return texts
}

func annotationWarnings(at *field.Path, _ *corev1.PodSpec, m *metav1.ObjectMeta) []string {
	var texts []string
	for _, a := range []struct{ key, why string }{
		{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
		{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
		{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	} {
		if _, ok := m.Annotations[a.key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s", at.Child("metadata", "annotations").Key(a.key), a.why))
		}
	}
	return texts
}

// podVolumeWarnings returns warnings for volume plugins that are deprecated or removed.
func podVolumeWarnings(at *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var texts []string
	for i := range s.Volumes {
		v, path := &s.Volumes[i], at.Child("spec", "volumes").Index(i)
		warn := func(used bool, name, why string) {
			if used {
				texts = append(texts, fmt.Sprintf("%s: deprecated in %s", path.Child(name), why))
			}
		}
		warn(v.PhotonPersistentDisk != nil, "photonPersistentDisk", "v1.11, non-functional in v1.16+")
		warn(v.GitRepo != nil, "gitRepo", "v1.11, and disabled by default in v1.33+")
		warn(v.ScaleIO != nil, "scaleIO", "v1.16, non-functional in v1.22+")
		warn(v.Flocker != nil, "flocker", "v1.22, non-functional in v1.25+")
		warn(v.StorageOS != nil, "storageOS", "v1.22, non-functional in v1.25+")
		warn(v.Quobyte != nil, "quobyte", "v1.22, non-functional in v1.25+")
		warn(v.Glusterfs != nil, "glusterfs", "v1.25, non-functional in v1.26+")
		if e := v.Ephemeral; e != nil && e.VolumeClaimTemplate != nil {
			texts = append(texts, check.ClaimWarnings(path.Child("ephemeral", "volumeClaimTemplate", "spec"),
				&e.VolumeClaimTemplate.Spec)...)
		}
		warn(v.CephFS != nil, "cephfs", "v1.28, non-functional in v1.31+")
		warn(v.RBD != nil, "rbd", "v1.28, non-functional in v1.31+")
	}
	return texts
}

// listWarnings returns warnings for duplicates in lists, fractions of bytes, and the annotation of the pod's seccomp
// profile, which has no effect any more.
func listWarnings(at *field.Path, s *corev1.PodSpec, m *metav1.ObjectMeta) []string {
	var texts []string
	hosts, aliases := map[string]bool{}, at.Child("spec", "hostAliases")
	for i, a := range s.HostAliases {
		if hosts[a.IP] {
			texts = append(texts, fmt.Sprintf("%s: duplicate ip %q", aliases.Index(i).Child("ip"), a.IP))
		}
		hosts[a.IP] = true
	}
	names, secrets := map[string]bool{}, at.Child("spec", "imagePullSecrets")
	for i, r := range s.ImagePullSecrets {
		if names[r.Name] {
			texts = append(texts, fmt.Sprintf("%s: duplicate name %q", secrets.Index(i).Child("name"), r.Name))
		}
		names[r.Name] = true
	}
	for i, r := range s.ImagePullSecrets {
		if r.Name == "" {
			texts = append(texts, fmt.Sprintf("%s: invalid empty name %q", secrets.Index(i).Child("name"), r.Name))
		}
	}
	texts = append(texts, check.FractionWarnings(at.Child("spec", "overhead"), s.Overhead, corev1.ResourceMemory,
		corev1.ResourceEphemeralStorage)...)
	if check.ValueOf(s.SecurityContext).SeccompProfile == nil {
		texts = append(texts, seccompWarnings(at, m, corev1.SeccompPodAnnotationKey)...)
	}
	return texts
}

func seccompWarnings(at *field.Path, m *metav1.ObjectMeta, key string) []string {
	if _, ok := m.Annotations[key]; !ok {
		return nil
	}
	return []string{fmt.Sprintf(
		`%s: non-functional in v1.27+; use the "seccompProfile" field instead`, at.Child("metadata", "annotations").Key(key),
	)}
}

func graceWarnings(at *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	if check.ValueOf(s.TerminationGracePeriodSeconds) >= 0 {
		return nil
	}
	return []string{fmt.Sprintf(
		"%s: must be >= 0; negative values are invalid and will be treated as 1",
		at.Child("spec", "terminationGracePeriodSeconds"),
	)}
}

func affinityWarnings(at *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var texts []string
	for _, t := range AffinityTerms(s.Affinity, at.Child("spec", "affinity")) {
		if t.LabelSelector == nil {
			texts = append(texts, fmt.Sprintf(matchesNothing, t.at.Child("labelSelector")))
		}
	}
	return texts
}

func dnsWarnings(at *field.Path, s *corev1.PodSpec, _ *metav1.ObjectMeta) []string {
	var texts []string
	for i, server := range check.ValueOf(s.DNSConfig).Nameservers {
		texts = append(texts, check.AddressWarnings(at.Child("spec", "dnsConfig", "nameservers").Index(i), server)...)
	}
	for i, a := range s.HostAliases {
		texts = append(texts, check.AddressWarnings(at.Child("spec", "hostAliases").Index(i).Child("ip"), a.IP)...)
	}
	return texts
}

// Warnings is a hook that returns warnings for the template of an object that is new or whose spec has changed.
func Warnings(obj, old runtime.Object) []string {
	t, at := TemplateOf(obj)
	if t == nil || old != nil && obj.(metav1.Object).GetGeneration() == old.(metav1.Object).GetGeneration() {
		return nil
	}
	return SpecWarnings(at, &t.Spec, &t.ObjectMeta)
}

// NamedWarnings is Warnings with those for the name of a new object that is not valid in host names of pods.
func NamedWarnings(obj, old runtime.Object) []string {
	m, ok := obj.(metav1.Object)
	return append(NamesOfNew(m, ok && old == nil), Warnings(obj, old)...)
}

// NamesOfNew returns warnings for the name of a new object that is not valid in host names of pods.
func NamesOfNew(obj metav1.Object, isNew bool) []string {
	if !isNew {
		return nil
	}
	return NameWarnings("Pod names and hostnames", obj.GetName())
}
