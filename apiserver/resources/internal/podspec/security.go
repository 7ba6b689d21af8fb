package podspec

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/node/util/sysctl"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Not validated: whether the cluster allows privileged containers. This server always allows them.

// ID requires a valid user or group ID.
func ID(id *int64, at *field.Path, is func(int64) []string) field.ErrorList {
	return check.Given(id, at, func(id int64, at *field.Path) field.ErrorList { return check.Apply(id, at, is) })
}

// podSecurity validates the pod-level security context (core validatePodSpecSecurityContext).
func (r *Rules) podSecurity(at *field.Path) (errs field.ErrorList) {
	c := check.ValueOf(r.spec.SecurityContext)
	errs = append(errs, ID(c.FSGroup, at.Child("fsGroup"), utilvalidation.IsValidGroupID)...)
	errs = append(errs, ID(c.RunAsUser, at.Child("runAsUser"), utilvalidation.IsValidUserID)...)
	errs = append(errs, ID(c.RunAsGroup, at.Child("runAsGroup"), utilvalidation.IsValidGroupID)...)
	for i := range c.SupplementalGroups {
		errs = append(errs, ID(&c.SupplementalGroups[i], at.Child("supplementalGroups").Index(i),
			utilvalidation.IsValidGroupID)...)
	}
	errs = append(errs, check.Reject(r.spec.HostPID && check.IsTrue(r.spec.ShareProcessNamespace),
		at.Child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled")...)
	errs = append(errs, r.sysctls(c.Sysctls, at.Child("sysctls"))...)
	errs = append(errs, check.Given(c.FSGroupChangePolicy, at.Child("fsGroupChangePolicy"),
		check.Among(corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch))...)
	errs = append(errs, check.Optional(c.SeccompProfile, at.Child("seccompProfile"), seccomp)...)
	errs = append(errs, check.Optional(c.WindowsOptions, at.Child("windowsOptions"), windowsOptions)...)
	errs = append(errs, check.Optional(c.AppArmorProfile, at.Child("appArmorProfile"), appArmor)...)
	errs = append(errs, check.Given(c.SupplementalGroupsPolicy, at.Child("supplementalGroupsPolicy"),
		check.Among(corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict))...)
	return append(errs, check.Given(c.SELinuxChangePolicy, at.Child("seLinuxChangePolicy"),
		check.Among(r.had.seLinuxPolicies()...))...)
}

const sysctlForm = `^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`

var sysctlName = regexp.MustCompile(sysctlForm)

func (r *Rules) sysctls(list []corev1.Sysctl, at *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, s := range list {
		here := at.Index(i).Child("name")
		switch {
		case s.Name == "":
			errs = append(errs, field.Required(here, ""))
		case len(s.Name) > 253 || !sysctlName.MatchString(s.Name):
			errs = append(errs, field.Invalid(here, s.Name, "must have at most 253 characters and match regex "+sysctlForm))
		case seen[s.Name]:
			errs = append(errs, field.Duplicate(here, s.Name))
		}
		if !r.had.hostSysctls {
			errs = append(errs, hostSysctl(r.spec, s.Name, here)...)
		}
		seen[s.Name] = true
	}
	return errs
}

// hostSysctl rejects a sysctl of a kernel namespace that the pod shares with its host.
func hostSysctl(s *corev1.PodSpec, name string, at *field.Path) field.ErrorList {
	space, _, _ := sysctl.GetNamespace(name)
	net, ipc := s.HostNetwork && space == sysctl.NetNamespace, s.HostIPC && space == sysctl.IPCNamespace
	return append(check.Reject(net, at, name, "may not be specified when 'hostNetwork' is true"),
		check.Reject(ipc, at, name, "may not be specified when 'hostIPC' is true")...)
}

// securityContext validates a container's security context (core ValidateSecurityContext).
func (r *Rules) securityContext(c *corev1.SecurityContext, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, ID(c.RunAsUser, at.Child("runAsUser"), utilvalidation.IsValidUserID)...)
	errs = append(errs, ID(c.RunAsGroup, at.Child("runAsGroup"), utilvalidation.IsValidGroupID)...)
	if c.ProcMount != nil {
		errs = append(errs, check.OneOf(*c.ProcMount, at.Child("procMount"),
			[]corev1.ProcMountType{corev1.DefaultProcMount, corev1.UnmaskedProcMount})...)
		hostUsers := r.spec.HostUsers == nil || *r.spec.HostUsers
		errs = append(errs, check.Reject(hostUsers && *c.ProcMount == corev1.UnmaskedProcMount, at.Child("procMount"),
			c.ProcMount, "`hostUsers` must be false to use `Unmasked`")...)
	}
	errs = append(errs, check.Optional(c.SeccompProfile, at.Child("seccompProfile"), seccomp)...)
	if c.AllowPrivilegeEscalation != nil && !*c.AllowPrivilegeEscalation {
		errs = append(errs, escalation(c, at)...)
	}
	errs = append(errs, check.Optional(c.WindowsOptions, at.Child("windowsOptions"), windowsOptions)...)
	return append(errs, check.Optional(c.AppArmorProfile, at.Child("appArmorProfile"), appArmor)...)
}

const sysAdmin corev1.Capability = "CAP_SYS_ADMIN"

// escalation rejects settings that imply a privilege escalation, if the security context forbids that.
func escalation(c *corev1.SecurityContext, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Reject(check.IsTrue(c.Privileged), at, *c,
		"cannot set `allowPrivilegeEscalation` to false and `privileged` to true")...)
	for _, added := range check.ValueOf(c.Capabilities).Add {
		errs = append(errs, check.Reject(added == sysAdmin, at, *c,
			"cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")...)
	}
	return errs
}

func seccomp(p *corev1.SeccompProfile, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(p.Type != "", at.Child("type"), "type is required when seccompProfile is set")...)
	errs = append(errs, check.NonEmpty(p.Type, at.Child("type"), check.Among(
		corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined,
	))...)
	file := at.Child("localhostProfile")
	switch local := p.Type == corev1.SeccompProfileTypeLocalhost; {
	case local && p.LocalhostProfile == nil:
		errs = append(errs, field.Required(file, "must be set when seccomp type is Localhost"))
	case local:
		errs = append(errs, Descending(*p.LocalhostProfile, file)...)
	case p.LocalhostProfile != nil:
		errs = append(errs, field.Invalid(file, *p, "can only be set when seccomp type is Localhost"))
	}
	return errs
}

func appArmor(p *corev1.AppArmorProfile, at *field.Path) (errs field.ErrorList) {
	const unset = "must be set when AppArmor type is Localhost"
	file := at.Child("localhostProfile")
	switch p.Type {
	case corev1.AppArmorProfileTypeLocalhost:
		switch {
		case p.LocalhostProfile == nil:
			return field.ErrorList{field.Required(file, unset)}
		case strings.TrimSpace(*p.LocalhostProfile) != *p.LocalhostProfile:
			errs = append(errs, field.Invalid(file, *p.LocalhostProfile, "must not be padded with whitespace"))
		case *p.LocalhostProfile == "":
			errs = append(errs, field.Required(file, unset))
		}
		errs = append(errs, check.MaxBytes(len(*p.LocalhostProfile), 4095, file)...)
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		errs = append(errs, check.Reject(p.LocalhostProfile != nil, file, p.LocalhostProfile,
			"can only be set when AppArmor type is Localhost")...)
	case "":
		errs = append(errs, field.Required(at.Child("type"), "type is required when appArmorProfile is set"))
	default:
		errs = append(errs, field.NotSupported(at.Child("type"), p.Type, []corev1.AppArmorProfileType{
			corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined,
		}))
	}
	return errs
}
