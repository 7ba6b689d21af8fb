package prepare

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// syncAppArmor copies AppArmor profiles from annotations to the fields that replaced them, where a
// container has none and its pod's is another (applyAppArmorVersionSkew).
func syncAppArmor(p *corev1.Pod) {
	eachAppArmor(p, func(c *corev1.Container, _ string, profile *corev1.AppArmorProfile) {
		if profile == nil || apiequality.Semantic.DeepEqual(profile, podAppArmor(&p.Spec)) {
			return
		}
		if c.SecurityContext == nil {
			c.SecurityContext = &corev1.SecurityContext{}
		}
		c.SecurityContext.AppArmorProfile = profile
	})
}

// appArmorWarnings warns of annotations that are copied, or would be if they were valid.
func appArmorWarnings(p *corev1.Pod) []string {
	var texts []string
	eachAppArmor(p, func(_ *corev1.Container, key string, profile *corev1.AppArmorProfile) {
		if profile == nil || !apiequality.Semantic.DeepEqual(profile, podAppArmor(&p.Spec)) {
			texts = append(texts, deprecatedAppArmor(nil, key))
		}
	})
	return texts
}

func deprecatedAppArmor(at *field.Path, key string) string {
	return at.Child("metadata", "annotations").Key(key).String() +
		`: deprecated since v1.30; use the "appArmorProfile" field instead`
}

// eachAppArmor calls f for containers that have an annotation and no field, with the annotation's
// key and the profile it stands for, nil if it is invalid.
func eachAppArmor(p *corev1.Pod, f func(c *corev1.Container, key string, profile *corev1.AppArmorProfile)) {
	if p.Spec.OS != nil && p.Spec.OS.Name == corev1.Windows {
		return
	}
	for _, c := range containers(&p.Spec) {
		key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
		value, ok := p.Annotations[key]
		if ok && (c.SecurityContext == nil || c.SecurityContext.AppArmorProfile == nil) {
			f(c, key, appArmorProfile(value))
		}
	}
}

func podAppArmor(s *corev1.PodSpec) *corev1.AppArmorProfile {
	if s.SecurityContext == nil {
		return nil
	}
	return s.SecurityContext.AppArmorProfile
}

func appArmorProfile(annotation string) *corev1.AppArmorProfile {
	switch annotation {
	case corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	}
	const longest = 4095
	name, ok := strings.CutPrefix(annotation, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
	if !ok || name == "" || len(name) > longest || strings.TrimSpace(name) != name {
		return nil
	}
	return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
}
