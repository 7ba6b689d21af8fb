package podspec

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Legacy says which invalid values an object had before its update. The new one may keep them: later rules must not
// make stored objects immutable (api/pod GetValidationOptionsFromPodSpecAndMeta). The zero value accepts none.
type Legacy struct {
	oddDeletionCost, oddSelectors, oddSpread, oddNodeAffinity, oddHugePages, oddTokenPaths bool

	hostSysctls, seLinux, userDevices, restartingInits, emptyImages bool
	// Addresses that are unchanged.
	hostIPs, nameservers []string
}

// seLinuxPolicies are the policies that are allowed while SELinuxMount is off.
func (l *Legacy) seLinuxPolicies() []corev1.PodSELinuxChangePolicy {
	if l.seLinux {
		return []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive}
	}
	return []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyRecursive}
}

// LegacyOf returns the invalid values of an old spec and its metadata.
func LegacyOf(s *corev1.PodSpec, m *metav1.ObjectMeta) Legacy {
	l := Legacy{
		oddDeletionCost: !deletionCost(m.Annotations),
		oddSelectors:    oddPodSelectors(s.Affinity),
		oddNodeAffinity: oddNodeValues(s.Affinity),
		seLinux:         s.SecurityContext != nil && s.SecurityContext.SELinuxChangePolicy != nil,
	}
	for i := range s.TopologySpreadConstraints {
		l.oddSpread = l.oddSpread || len(ValidateSelector(s.TopologySpreadConstraints[i].LabelSelector, false, nil)) != 0
	}
	EachContainer(s, nil, func(c *corev1.Container, _ *field.Path) {
		l.userDevices = l.userDevices || s.HostUsers != nil && !*s.HostUsers && len(c.VolumeDevices) > 0
		for _, list := range []corev1.ResourceList{c.Resources.Limits, c.Resources.Requests} {
			for n, q := range list {
				l.oddHugePages = l.oddHugePages || check.IsHugePage(n) && !wholePages(n, q)
			}
		}
	})
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		l.restartingInits = l.restartingInits || !Sidecar(c) && len(restarting(c, nil)) > 0
	}
	for i := range s.Volumes {
		if v := s.Volumes[i].Image; v != nil {
			l.emptyImages = l.emptyImages || v.Reference == ""
		}
		if p := s.Volumes[i].Projected; p != nil {
			for _, source := range p.Sources {
				t := source.ServiceAccountToken
				l.oddTokenPaths = l.oddTokenPaths || t != nil && len(ProjectedPath(t.Path, nil)) != 0
			}
		}
	}
	if s.SecurityContext != nil {
		for _, sysctl := range s.SecurityContext.Sysctls {
			l.hostSysctls = l.hostSysctls || len(hostSysctl(s, sysctl.Name, nil)) != 0
		}
	}
	for _, alias := range s.HostAliases {
		l.hostIPs = append(l.hostIPs, alias.IP)
	}
	if s.DNSConfig != nil {
		l.nameservers = s.DNSConfig.Nameservers
	}
	return l
}

// deletionCost reports whether the annotation is missing or a 32-bit number without a plus sign or leading zeros.
func deletionCost(annotations map[string]string) bool {
	text, ok := annotations[corev1.PodDeletionCost]
	if !ok || text == "0" {
		return true
	}
	if text == "" || text[0] != '-' && (text[0] < '1' || text[0] > '9') {
		return false
	}
	_, err := strconv.ParseInt(text, 10, 32)
	return err == nil
}

func oddPodSelectors(a *corev1.Affinity) (odd bool) {
	if a == nil {
		return false
	}
	term := func(t *corev1.PodAffinityTerm) {
		odd = odd || metavalidation.LabelSelectorHasInvalidLabelValue(t.LabelSelector) ||
			metavalidation.LabelSelectorHasInvalidLabelValue(t.NamespaceSelector)
	}
	if p := a.PodAffinity; p != nil {
		eachTerm(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, term)
	}
	if p := a.PodAntiAffinity; p != nil {
		eachTerm(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, term)
	}
	return odd
}

func eachTerm(
	hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm, visit func(*corev1.PodAffinityTerm),
) {
	for i := range hard {
		visit(&hard[i])
	}
	for i := range soft {
		visit(&soft[i].PodAffinityTerm)
	}
}

func oddNodeValues(a *corev1.Affinity) bool {
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, q := range t.MatchExpressions {
			for _, v := range q.Values {
				if len(utilvalidation.IsValidLabelValue(v)) != 0 {
					return true
				}
			}
		}
	}
	return false
}
