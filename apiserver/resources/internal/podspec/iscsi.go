package podspec

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// iscsiForms are the forms of a qualified name by its first three letters.
var iscsiForms = map[string]*regexp.Regexp{
	"iqn": regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
	"eui": regexp.MustCompile(`^eui.[[:alnum:]]{16}$`),
	"naa": regexp.MustCompile(`^naa.[[:alnum:]]{32}$`),
}

// iscsiQualified requires a name of one of the forms; unknown is the message for any other name.
func iscsiQualified(name string, at *field.Path, unknown string) field.ErrorList {
	form := iscsiForms[name[:min(3, len(name))]]
	switch {
	case form == nil:
		return field.ErrorList{field.Invalid(at, name, unknown)}
	case !form.MatchString(name):
		return field.ErrorList{field.Invalid(at, name, "must be valid format")}
	}
	return nil
}

func validateISCSI(s *corev1.ISCSIVolumeSource, at *field.Path) field.ErrorList {
	const unknown = "must be valid format starting with iqn, eui, or naa"
	errs := check.RequireAll(at, "targetPortal", s.TargetPortal, "iqn", s.IQN)
	if s.IQN != "" {
		errs = append(errs, iscsiQualified(s.IQN, at.Child("iqn"), unknown)...)
	}
	if s.Lun < 0 || s.Lun > 255 {
		errs = append(errs, field.Invalid(at.Child("lun"), s.Lun, utilvalidation.InclusiveRangeError(0, 255)))
	}
	if (s.DiscoveryCHAPAuth || s.SessionCHAPAuth) && s.SecretRef == nil {
		errs = append(errs, check.RequireAll(at, "secretRef", "")...)
	}
	if s.InitiatorName != nil {
		errs = append(errs, iscsiQualified(*s.InitiatorName, at.Child("initiatorname"), unknown)...)
	}
	return errs
}

// iscsiName limits the name of the generated interface.
func iscsiName(v *corev1.Volume, at *field.Path) field.ErrorList {
	if v.ISCSI.InitiatorName == nil || len(strings.Join([]string{v.Name, v.ISCSI.TargetPortal}, ":")) <= 64 {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("name"), v.Name,
		"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")}
}
