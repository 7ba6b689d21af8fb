package core

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// Not validated: extendedResourceClaimStatus and nodeAllocatableResourceClaimStatuses; messages of
// resources' health.

// validatePodStatus validates a change of a pod's status (core ValidatePodStatusUpdate).
func validatePodStatus(p, old *corev1.Pod) field.ErrorList {
	had := podspec.LegacyOf(&old.Spec, &old.ObjectMeta)
	errs := podAnnotationsUpdate(p, old, had)
	for i, c := range p.Status.Conditions {
		if c.Type != corev1.PodScheduled && c.Type != corev1.PodReady && c.Type != corev1.PodInitialized {
			errs = append(errs, check.QualifiedName(string(c.Type), field.NewPath("metadata",
				"conditions").Index(i).Child("Type"))...)
		}
	}
	errs = append(errs, check.Forbid(p.Spec.NodeName != old.Spec.NodeName, check.StatusPath.Child("nodeName"),
		"may not be changed directly")...)
	s, was := &p.Status, &old.Status
	if s.NominatedNodeName != was.NominatedNodeName && s.NominatedNodeName != "" {
		errs = append(errs, check.DNSSubdomain(s.NominatedNodeName, check.StatusPath.Child("nominatedNodeName"))...)
		errs = append(errs, check.Forbid(old.Spec.NodeName != "", check.StatusPath.Child("nominatedNodeName"),
			"may not be set on pods that are already bound to a node")...)
	}
	errs = append(errs, check.Immutable(s.QOSClass, was.QOSClass, check.StatusPath.Child("qosClass"))...)
	errs = append(errs, transitions(p, old)...)
	errs = append(errs, claimStatuses(s.ResourceClaimStatuses, p.Spec.ResourceClaims,
		check.StatusPath.Child("resourceClaimStatuses"))...)
	errs = append(errs, podIPs(s, was)...)
	errs = append(errs, hostIPs(s, was)...)
	return append(errs, containerStatuses(p)...)
}

// transitions rejects restarts of containers that their restart policy forbids.
func transitions(p, old *corev1.Pod) (errs field.ErrorList) {
	policy := old.Spec.RestartPolicy
	regular, inits := old.Spec.Containers, old.Spec.InitContainers
	if !restartsAll(&old.Spec) {
		errs = append(errs, revived(p.Status.ContainerStatuses, old.Status.ContainerStatuses, policy, regular,
			check.StatusPath.Child("containerStatuses"))...)
		errs = append(errs, revived(p.Status.InitContainerStatuses, old.Status.InitContainerStatuses, policy, inits,
			check.StatusPath.Child("initContainerStatuses"))...)
	}
	return append(errs, revived(p.Status.EphemeralContainerStatuses, old.Status.EphemeralContainerStatuses,
		corev1.RestartPolicyNever, nil, check.StatusPath.Child("ephemeralContainerStatuses"))...)
}

// restartsAll reports whether a container's exit can restart the whole pod.
func restartsAll(s *corev1.PodSpec) (all bool) {
	for c := range podspec.Containers(s, nil) {
		for _, rule := range c.RestartPolicyRules {
			all = all || rule.Action == corev1.ContainerRestartRuleActionRestartAllContainers
		}
	}
	return all
}

func revived(
	now, was []corev1.ContainerStatus, policy corev1.RestartPolicy, containers []corev1.Container, at *field.Path,
) (errs field.ErrorList) {
	if policy == corev1.RestartPolicyAlways {
		return nil
	}
	alive := map[string]int{}
	for i := range now {
		if now[i].State.Terminated == nil {
			alive[now[i].Name]++
		}
	}
	named := byName(containers)
	for i, before := range was {
		if before.State.Terminated == nil || restarts(before, policy, named[before.Name]) {
			continue
		}
		for range alive[before.Name] {
			errs = append(errs, field.Forbidden(at.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// byName returns the containers by name. If a name occurs twice, it returns the first one.
func byName(list []corev1.Container) map[string]*corev1.Container {
	m := make(map[string]*corev1.Container, len(list))
	for i := range list {
		if m[list[i].Name] == nil {
			m[list[i].Name] = &list[i]
		}
	}
	return m
}

// restarts reports whether a container that has ended will be restarted. The first of its rules that matches the exit
// code decides, or else the container's own policy, or else the pod's. c is nil if the pod has no such container.
func restarts(s corev1.ContainerStatus, policy corev1.RestartPolicy, c *corev1.Container) bool {
	code := s.State.Terminated.ExitCode
	if c != nil {
		for _, rule := range c.RestartPolicyRules {
			if rule.ExitCodes == nil {
				continue
			}
			in := slices.Contains(rule.ExitCodes.Values, code)
			if in == (rule.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn) {
				return true
			}
		}
		if c.RestartPolicy != nil {
			policy = corev1.RestartPolicy(*c.RestartPolicy)
		}
	}
	return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && code != 0
}

func claimStatuses(
	list []corev1.PodResourceClaimStatus, claims []corev1.PodResourceClaim, at *field.Path,
) (errs field.ErrorList) {
	known, seen := map[string]bool{}, check.Unique[string]{}
	for _, c := range claims {
		known[c.Name] = true
	}
	for i, s := range list {
		name := at.Index(i).Child("name")
		errs = append(errs, check.Reject(!known[s.Name], name, s.Name,
			"must match the name of an entry in `spec.resourceClaims`")...)
		errs = append(errs, seen.Add(s.Name, name)...)
		if s.ResourceClaimName != nil {
			for _, text := range apivalidation.NameIsDNSSubdomain(*s.ResourceClaimName, false) {
				errs = append(errs, field.Invalid(at.Index(i).Child("resourceClaimName"), s.ResourceClaimName, text))
			}
		}
	}
	return errs
}

// podIPs requires at most one address of each family.
func podIPs(s, was *corev1.PodStatus) field.ErrorList {
	ip := func(v corev1.PodIP) string { return v.IP }
	errs, families, twice := statusIPs(s.PodIPs, was.PodIPs, ip, check.StatusPath.Child("podIPs"))
	return slices.Concat(errs, families, twice)
}

// hostIPs requires at most one address of each family, and that hostIP is the first address.
func hostIPs(s, was *corev1.PodStatus) field.ErrorList {
	if len(s.HostIPs) == 0 {
		return nil
	}
	first, at := s.HostIPs[0].IP, check.StatusPath.Child("hostIPs")
	ip := func(v corev1.HostIP) string { return v.IP }
	errs, families, twice := statusIPs(s.HostIPs, was.HostIPs, ip, at)
	return slices.Concat(
		check.Reject(s.HostIP != first, at.Index(0).Child("ip"), first, "must be equal to `hostIP`"), errs, twice, families)
}

// statusIPs returns the errors of single addresses, of several addresses of a family, and of duplicates.
func statusIPs[T comparable](list, was []T, ip func(T) string, at *field.Path) (errs, families, twice field.ErrorList) {
	var ips, had []string
	for _, v := range was {
		had = append(had, ip(v))
	}
	seen := check.Unique[T]{}
	for i, v := range list {
		ips = append(ips, ip(v))
		errs = append(errs, check.IP(ip(v), at.Index(i), had)...)
		twice = append(twice, seen.Add(v, at.Index(i))...)
	}
	if len(ips) < 2 {
		return errs, nil, nil
	}
	return errs, perFamily(ips, list, at), twice
}

func perFamily(list []string, shown any, at *field.Path) (errs field.ErrorList) {
	dual, err := netutils.IsDualStackIPStrings(list)
	if err != nil {
		errs = append(errs, field.InternalError(at, fmt.Errorf("failed to check for dual stack with error:%v", err)))
	}
	return append(errs, check.Reject(!dual || len(list) > 2, at, shown,
		"may specify no more than one IP for each IP family")...)
}

// containerStatuses validates the users of containers and the health of their resources.
func containerStatuses(p *corev1.Pod) (errs field.ErrorList) {
	regular, inits := check.StatusPath.Child("containerStatuses"), check.StatusPath.Child("initContainerStatuses")
	ephemeral := check.StatusPath.Child("ephemeralContainerStatuses")
	windows := p.Spec.OS != nil && p.Spec.OS.Name == corev1.Windows
	other := p.Spec.OS != nil && p.Spec.OS.Name != corev1.Linux
	errs = append(errs, users(p.Status.ContainerStatuses, windows, other, regular)...)
	errs = append(errs, users(p.Status.InitContainerStatuses, windows, other, inits)...)
	errs = append(errs, users(p.Status.EphemeralContainerStatuses, windows, other, ephemeral)...)
	errs = append(errs, healths(p.Status.ContainerStatuses, p.Spec.Containers, regular)...)
	errs = append(errs, healths(p.Status.InitContainerStatuses, p.Spec.InitContainers, inits)...)
	for i, s := range p.Status.EphemeralContainerStatuses {
		errs = append(errs, check.Forbid(len(s.AllocatedResourcesStatus) != 0,
			ephemeral.Index(i).Child("allocatedResourcesStatus"), "must not be specified in container status")...)
	}
	return errs
}

func users(list []corev1.ContainerStatus, windows, other bool, at *field.Path) (errs field.ErrorList) {
	for i, s := range list {
		here := at.Index(i).Child("linux")
		if s.User == nil || s.User.Linux == nil {
			continue
		}
		errs = append(errs, check.Forbid(windows, here, "cannot be set for a windows pod")...)
		if other {
			continue
		}
		u := s.User.Linux
		errs = append(errs, podspec.ID(&u.UID, here.Child("uid"), linuxUserID)...)
		errs = append(errs, podspec.ID(&u.GID, here.Child("gid"), utilvalidation.IsValidGroupID)...)
		for j := range u.SupplementalGroups {
			errs = append(errs, podspec.ID(&u.SupplementalGroups[j], here.Child("supplementalGroups").Index(j),
				utilvalidation.IsValidGroupID)...)
		}
	}
	return errs
}

// linuxUserID requires a user ID in the range of Linux, which is larger than that of user IDs in a spec (V-066).
func linuxUserID(id int64) []string {
	if id >= 0 && id <= math.MaxUint32 {
		return nil
	}
	return []string{utilvalidation.InclusiveRangeError(0, math.MaxUint32)}
}

func healths(list []corev1.ContainerStatus, containers []corev1.Container, at *field.Path) (errs field.ErrorList) {
	named := byName(containers)
	for i, s := range list {
		c := named[s.Name]
		if len(s.AllocatedResourcesStatus) == 0 {
			continue
		}
		own := claimedBy(c)
		for k, r := range s.AllocatedResourcesStatus {
			here := at.Index(i).Child("allocatedResourcesStatus").Index(k)
			if c != nil {
				if text := unclaimed(c, own, r.Name); text != "" {
					errs = append(errs, field.Invalid(here.Child("name"), r.Name, text))
				}
			}
			seen := check.Unique[corev1.ResourceID]{}
			for n, h := range r.Resources {
				unit := here.Child("resources").Index(n)
				errs = append(errs, check.OneOf(h.Health, unit.Child("health"), []corev1.ResourceHealthStatus{
					corev1.ResourceHealthStatusHealthy, corev1.ResourceHealthStatusUnhealthy, corev1.ResourceHealthStatusUnknown,
				})...)
				errs = append(errs, seen.Add(h.ResourceID, unit.Child("resourceID"))...)
			}
		}
	}
	return errs
}

// claimedBy returns the names of a container's claims in its status.
func claimedBy(c *corev1.Container) map[string]bool {
	names := map[string]bool{}
	for _, claim := range check.ValueOf(c).Resources.Claims {
		name := "claim:" + claim.Name
		if claim.Request != "" {
			name += "/" + claim.Request
		}
		names[name] = true
	}
	return names
}

// unclaimed returns the error for a resource that the container does not use. own has the names of the container's
// claims.
func unclaimed(c *corev1.Container, own map[string]bool, name corev1.ResourceName) string {
	_, requested := c.Resources.Requests[name]
	switch claim := strings.HasPrefix(string(name), "claim:"); {
	case claim && own[string(name)], !claim && requested:
		return ""
	case !claim:
		return "must match one of the container's resource requests"
	}
	return "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
}
