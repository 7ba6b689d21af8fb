package podspec

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Annotations that fields have replaced, and the annotation of mirror pods.
const (
	MirrorAnnotation         = corev1.MirrorPodAnnotationKey
	tolerationsAnnotation    = corev1.TolerationsAnnotationKey
	seccompPodAnnotation     = corev1.SeccompPodAnnotationKey
	seccompContainerPrefix   = corev1.SeccompContainerAnnotationKeyPrefix
	AppArmorContainerPrefix  = corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix
	localhostPrefix          = "localhost/"
	runtimeDefaultAnnotation = "runtime/default"
	dockerDefaultAnnotation  = "docker/default"
	unconfinedAnnotation     = "unconfined"
)

// Annotations validates the annotations of a pod or template that Kubernetes defines (core
// ValidatePodSpecificAnnotations).
func (r *Rules) Annotations(a map[string]string, at *field.Path) (errs field.ErrorList) {
	if value, ok := a[MirrorAnnotation]; ok && r.spec.NodeName == "" {
		errs = append(errs, field.Invalid(at.Key(MirrorAnnotation), value,
			"must set spec.nodeName if mirror pod annotation is set"))
	}
	if text := a[tolerationsAnnotation]; text != "" {
		var list []corev1.Toleration
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			errs = append(errs, field.Invalid(at, tolerationsAnnotation, err.Error()))
		} else {
			errs = append(errs, ValidateTolerations(list, at.Child(tolerationsAnnotation))...)
		}
	}
	errs = append(errs, check.Reject(!r.had.invalidDeletionCost && !deletionCost(a), at.Key(corev1.PodDeletionCost),
		a[corev1.PodDeletionCost], "must be a 32bit integer")...)
	if p, ok := a[seccompPodAnnotation]; ok {
		errs = append(errs, seccompName(p, at.Child(seccompPodAnnotation))...)
	}
	for _, key := range check.Sorted(a) {
		if strings.HasPrefix(key, seccompContainerPrefix) {
			errs = append(errs, seccompName(a[key], at.Child(key))...)
		}
	}
	for _, key := range check.Sorted(a) {
		if name, ok := strings.CutPrefix(key, AppArmorContainerPrefix); ok {
			errs = append(errs, r.appArmorName(name, a[key], at.Key(key))...)
		}
	}
	return errs
}

func seccompName(p string, at *field.Path) field.ErrorList {
	if p == runtimeDefaultAnnotation || p == dockerDefaultAnnotation || p == unconfinedAnnotation {
		return nil
	}
	if file, ok := strings.CutPrefix(p, localhostPrefix); ok {
		return Descending(file, at)
	}
	return field.ErrorList{field.Invalid(at, p, "must be a valid seccomp profile")}
}

func (r *Rules) appArmorName(container, p string, at *field.Path) (errs field.ErrorList) {
	if r.containers == nil {
		r.containers = map[string]bool{}
		for c := range Containers(r.spec, nil) {
			r.containers[c.Name] = true
		}
	}
	errs = append(errs, check.Reject(!r.containers[container], at, container, "container not found")...)
	known := p == "" || p == runtimeDefaultAnnotation || p == unconfinedAnnotation || strings.HasPrefix(p, localhostPrefix)
	return append(errs, check.Reject(!known, at, p,
		fmt.Sprintf("invalid AppArmor profile name: %q", p))...)
}

// ProfilesAgree requires that the annotations and fields of a new pod or template have the same profiles.
func (r *Rules) ProfilesAgree(m *metav1.ObjectMeta, at *field.Path) (errs field.ErrorList) {
	whole := check.ValueOf(r.spec.SecurityContext)
	seccompAgrees := func(key string, p *corev1.SeccompProfile, at *field.Path) {
		if text, ok := m.Annotations[key]; ok && p != nil {
			errs = append(errs, agrees("seccomp", text, string(p.Type), p.LocalhostProfile,
				at.Child("securityContext", "seccompProfile"), runtimeDefaultAnnotation, dockerDefaultAnnotation)...)
		}
	}
	seccompAgrees(seccompPodAnnotation, whole.SeccompProfile, at)
	for c, at := range Containers(r.spec, at) {
		seccompAgrees(seccompContainerPrefix+c.Name, check.ValueOf(c.SecurityContext).SeccompProfile, at)
	}
	if r.spec.OS != nil && r.spec.OS.Name == corev1.Windows {
		return errs
	}
	for c, at := range Containers(r.spec, at) {
		p := whole.AppArmorProfile
		if c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
			p = c.SecurityContext.AppArmorProfile
		}
		if text, ok := m.Annotations[AppArmorContainerPrefix+c.Name]; ok && p != nil {
			here := at.Child("securityContext", "appArmorProfile")
			errs = append(errs, agrees("apparmor", text, string(p.Type), p.LocalhostProfile, here, runtimeDefaultAnnotation)...)
		}
	}
	return errs
}

// agrees requires that an annotation has a profile's type and file. defaults are the names of the runtime's default
// profile.
func agrees(what, text, kind string, file *string, at *field.Path, defaults ...string) field.ErrorList {
	name, local := strings.CutPrefix(text, localhostPrefix)
	same := true
	switch kind {
	case "Unconfined":
		same = text == unconfinedAnnotation
	case "RuntimeDefault":
		same = check.Set(defaults...)[text]
	case "Localhost":
		if local && (file == nil || name != *file) {
			return field.ErrorList{
				field.Forbidden(at.Child("localhostProfile"), what+" profile in annotation and field must match"),
			}
		}
		same = local
	}
	return check.Forbid(!same, at.Child("type"), what+" type in annotation and field must match")
}

// DeprecatedAppArmor returns the warning for an annotation that a field has replaced.
func DeprecatedAppArmor(at *field.Path, key string) string {
	return at.Child("metadata", "annotations").Key(key).String() +
		`: deprecated since v1.30; use the "appArmorProfile" field instead`
}

// PodAppArmor returns the profile of a pod's security context, or nil.
func PodAppArmor(s *corev1.PodSpec) *corev1.AppArmorProfile {
	return check.ValueOf(s.SecurityContext).AppArmorProfile
}
