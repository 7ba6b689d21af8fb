package podspec

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Legacy has the kinds of invalid values in an object before its update. The updated object may have them, too, so that
// new rules do not make stored objects immutable (api/pod GetValidationOptionsFromPodSpecAndMeta). The zero value
// allows none.
type Legacy struct {
	invalidDeletionCost, invalidSelectors, invalidSpread, invalidNodeAffinity, invalidHugePages, invalidTokenPaths bool

	hostSysctls, seLinux, userDevices, restartingInits, emptyImages bool
	// hostIPs and nameservers are the old addresses, which may stay.
	hostIPs, nameservers []string
}

// seLinuxPolicies returns the policies that are allowed while the gate SELinuxMount is off.
func (l *Legacy) seLinuxPolicies() []corev1.PodSELinuxChangePolicy {
	if l.seLinux {
		return []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive}
	}
	return []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyRecursive}
}

// LegacyOf returns the invalid values of an old spec and its metadata.
func LegacyOf(s *corev1.PodSpec, m *metav1.ObjectMeta) Legacy {
	l := Legacy{
		invalidDeletionCost: !deletionCost(m.Annotations),
		invalidSelectors:    hasInvalidSelectors(s.Affinity),
		invalidNodeAffinity: hasInvalidNodeValues(s.Affinity),
		seLinux:             check.ValueOf(s.SecurityContext).SELinuxChangePolicy != nil,
		nameservers:         check.ValueOf(s.DNSConfig).Nameservers,
	}
	for i := range s.TopologySpreadConstraints {
		selector := s.TopologySpreadConstraints[i].LabelSelector
		l.invalidSpread = l.invalidSpread || len(ValidateSelector(selector, false, nil)) != 0
	}
	for c := range Containers(s, nil) {
		l.userDevices = l.userDevices || s.HostUsers != nil && !*s.HostUsers && len(c.VolumeDevices) > 0
		for _, list := range []corev1.ResourceList{c.Resources.Limits, c.Resources.Requests} {
			for n, q := range list {
				l.invalidHugePages = l.invalidHugePages || check.IsHugePage(n) && !wholePages(n, q)
			}
		}
	}
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		l.restartingInits = l.restartingInits || !Sidecar(c) && len(restarting(c, nil)) > 0
	}
	for i := range s.Volumes {
		if v := s.Volumes[i].Image; v != nil {
			l.emptyImages = l.emptyImages || v.Reference == ""
		}
		for _, source := range check.ValueOf(s.Volumes[i].Projected).Sources {
			t := source.ServiceAccountToken
			l.invalidTokenPaths = l.invalidTokenPaths || t != nil && len(ProjectedPath(t.Path, nil)) != 0
		}
	}
	for _, sysctl := range check.ValueOf(s.SecurityContext).Sysctls {
		l.hostSysctls = l.hostSysctls || len(hostSysctl(s, sysctl.Name, nil)) != 0
	}
	for _, alias := range s.HostAliases {
		l.hostIPs = append(l.hostIPs, alias.IP)
	}
	return l
}

// deletionCost reports whether the annotation is missing, or a 32-bit number without a plus sign or leading zeros.
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

func hasInvalidSelectors(a *corev1.Affinity) bool {
	return slices.ContainsFunc(AffinityTerms(a, nil), func(t AffinityTerm) bool {
		return metav1validation.LabelSelectorHasInvalidLabelValue(t.LabelSelector) ||
			metav1validation.LabelSelectorHasInvalidLabelValue(t.NamespaceSelector)
	})
}

func hasInvalidNodeValues(a *corev1.Affinity) bool {
	n := check.ValueOf(check.ValueOf(a).NodeAffinity)
	for _, t := range check.ValueOf(n.RequiredDuringSchedulingIgnoredDuringExecution).NodeSelectorTerms {
		for _, q := range t.MatchExpressions {
			if slices.ContainsFunc(q.Values, func(v string) bool { return len(utilvalidation.IsValidLabelValue(v)) > 0 }) {
				return true
			}
		}
	}
	return false
}
