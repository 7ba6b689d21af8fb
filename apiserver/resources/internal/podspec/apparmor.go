package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DeprecatedAppArmor is the warning for an annotation that was replaced by a field.
func DeprecatedAppArmor(at *field.Path, key string) string {
	return at.Child("metadata", "annotations").Key(key).String() +
		`: deprecated since v1.30; use the "appArmorProfile" field instead`
}

// PodAppArmor returns the profile of a pod's security context, nil if there is none.
func PodAppArmor(s *corev1.PodSpec) *corev1.AppArmorProfile {
	if s.SecurityContext == nil {
		return nil
	}
	return s.SecurityContext.AppArmorProfile
}
