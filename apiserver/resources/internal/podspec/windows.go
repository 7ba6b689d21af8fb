package podspec

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

const (
	gmsaMaxKiB   = 64
	domainMaxLen = 256
	userMaxLen   = 104
)

var (
	controlChars = regexp.MustCompile(`[[:cntrl:]]+`)
	netBIOSName  = regexp.MustCompile(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	dnsDomain    = regexp.MustCompile(
		`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`,
	)
)

func windowsOptions(o *corev1.WindowsSecurityContextOptions, at *field.Path) (errs field.ErrorList) {
	errs = check.Given(o.GMSACredentialSpecName, at.Child("gmsaCredentialSpecName"), check.DNSSubdomain)
	if spec := o.GMSACredentialSpec; spec != nil {
		switch here := at.Child("gmsaCredentialSpec"); {
		case *spec == "":
			errs = append(errs, field.Invalid(here, spec, "gmsaCredentialSpec cannot be an empty string"))
		case len(*spec) > gmsaMaxKiB*1024:
			errs = append(errs, field.Invalid(here, spec, fmt.Sprintf("gmsaCredentialSpec size must be under %d KiB",
				gmsaMaxKiB)))
		}
	}
	if o.RunAsUserName != nil {
		for _, text := range userNameFaults(*o.RunAsUserName) {
			errs = append(errs, field.Invalid(at.Child("runAsUserName"), o.RunAsUserName, "runAsUserName"+text))
		}
	}
	return errs
}

// userNameFaults validates a name of the form DOMAIN\USER. The domain is optional.
func userNameFaults(name string) (faults []string) {
	domain, user, qualified := strings.Cut(name, `\`)
	switch {
	case name == "":
		return []string{" cannot be an empty string"}
	case controlChars.MatchString(name):
		return []string{" cannot contain control characters"}
	case strings.Count(name, `\`) > 1:
		return []string{" cannot contain more than one backslash"}
	case !qualified:
		domain, user = "", name
	}
	if len(domain) >= domainMaxLen {
		faults = append(faults, fmt.Sprintf("'s Domain length must be under %d characters", domainMaxLen))
	}
	if qualified && !netBIOSName.MatchString(domain) && !dnsDomain.MatchString(domain) {
		faults = append(faults, "'s Domain doesn't match the NetBios nor the DNS format")
	}
	if user == "" {
		faults = append(faults, "'s User cannot be empty")
	} else if len(user) > userMaxLen {
		faults = append(faults, fmt.Sprintf("'s User length must not be longer than %d characters", userMaxLen))
	}
	if user != "" && strings.Trim(user, ". ") == "" {
		faults = append(faults, "'s User cannot contain only periods or spaces")
	}
	if strings.ContainsAny(user, `"/\:;|=,+*?<>@[]`) {
		faults = append(faults, `'s User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
	return faults
}

// hostProcesses requires that either all or no containers of a pod are HostProcess containers (core
// validateWindowsHostProcessPod).
func (r *Rules) hostProcesses(at *field.Path) (errs field.ErrorList) {
	whole := check.ValueOf(check.ValueOf(r.spec.SecurityContext).WindowsOptions).HostProcess
	all, onHost := 0, 0
	for c, at := range Containers(r.spec, at) {
		all++
		own := check.ValueOf(check.ValueOf(c.SecurityContext).WindowsOptions).HostProcess
		if whole != nil && own != nil && *whole != *own {
			errs = append(errs, field.Invalid(at.Child("securityContext", "windowsOptions", "hostProcess"), *own,
				fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", *whole)))
		}
		if check.IsTrue(own) || own == nil && check.IsTrue(whole) {
			onHost++
		}
	}
	errs = append(errs, check.Reject(onHost > 0 && onHost != all, at, "",
		"If pod contains any hostProcess containers then all containers must be HostProcess containers")...)
	return append(errs, check.Reject(onHost > 0 && !r.spec.HostNetwork, at.Child("hostNetwork"), false,
		"hostNetwork must be true if pod contains any hostProcess containers")...)
}

// system requires a known operating system, and no settings for another one.
func (r *Rules) system(at *field.Path) (errs field.ErrorList) {
	if r.spec.OS == nil {
		return nil
	}
	switch r.spec.OS.Name {
	case "":
		return field.ErrorList{field.Required(at.Child("os", "name"), "cannot be empty")}
	case corev1.Linux:
		return r.linuxOnly(at)
	case corev1.Windows:
		return r.windowsOnly(at)
	}
	return check.OneOf(r.spec.OS.Name, at.Child("os"), []corev1.OSName{corev1.Linux, corev1.Windows})
}

func (r *Rules) linuxOnly(at *field.Path) (errs field.ErrorList) {
	const text = "windows options cannot be set for a linux pod"
	errs = append(errs, check.Forbid(check.ValueOf(r.spec.SecurityContext).WindowsOptions != nil,
		at.Child("securityContext", "windowsOptions"), text)...)
	for c, at := range Containers(r.spec, at) {
		errs = append(errs, check.Forbid(check.ValueOf(c.SecurityContext).WindowsOptions != nil,
			at.Child("securityContext", "windowsOptions"), text)...)
	}
	return errs
}

type setting struct {
	path string
	set  bool
}

func forbidAll(at *field.Path, settings []setting) (errs field.ErrorList) {
	for _, s := range settings {
		errs = append(errs, check.Forbid(s.set, at.Child(s.path), "cannot be set for a windows pod")...)
	}
	return errs
}

func (r *Rules) windowsOnly(at *field.Path) field.ErrorList {
	s, c := r.spec, check.ValueOf(r.spec.SecurityContext)
	errs := forbidAll(at, []setting{
		{"securityContext.appArmorProfile", c.AppArmorProfile != nil},
		{"securityContext.seLinuxOptions", c.SELinuxOptions != nil},
		{"hostUsers", s.HostUsers != nil},
		{"hostPID", s.HostPID},
		{"hostIPC", s.HostIPC},
		{"securityContext.seccompProfile", c.SeccompProfile != nil},
		{"securityContext.fsGroup", c.FSGroup != nil},
		{"securityContext.fsGroupChangePolicy", c.FSGroupChangePolicy != nil},
		{"securityContext.sysctls", len(c.Sysctls) > 0},
		{"shareProcessNamespace", s.ShareProcessNamespace != nil},
		{"securityContext.runAsUser", c.RunAsUser != nil},
		{"securityContext.runAsGroup", c.RunAsGroup != nil},
		{"securityContext.supplementalGroups", c.SupplementalGroups != nil},
		{"securityContext.supplementalGroupsPolicy", c.SupplementalGroupsPolicy != nil},
		{"securityContext.seLinuxChangePolicy", c.SELinuxChangePolicy != nil},
	})
	for c, at := range Containers(s, at) {
		o := c.SecurityContext
		if o == nil {
			continue
		}
		errs = append(errs, forbidAll(at.Child("securityContext"), []setting{
			{"appArmorProfile", o.AppArmorProfile != nil},
			{"seLinuxOptions", o.SELinuxOptions != nil},
			{"seccompProfile", o.SeccompProfile != nil},
			{"capabilities", o.Capabilities != nil},
			{"readOnlyRootFilesystem", o.ReadOnlyRootFilesystem != nil},
			{"privileged", o.Privileged != nil},
			{"allowPrivilegeEscalation", o.AllowPrivilegeEscalation != nil},
			{"procMount", o.ProcMount != nil},
			{"runAsUser", o.RunAsUser != nil},
			{"runAsGroup", o.RunAsGroup != nil},
		})...)
	}
	return errs
}
