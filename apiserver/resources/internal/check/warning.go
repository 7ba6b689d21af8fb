package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilnet "k8s.io/utils/net"
)

// ValueOf returns the target of p, or the zero value if p is nil.
func ValueOf[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// DeprecatedLabels are deprecated node labels with their warnings (pkg/api/node/util.go).
var DeprecatedLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  "deprecated since v1.9",
	"scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

// TermWarnings are the warnings for labels in a term, and for invalid values that validation accepts.
func TermWarnings(at *field.Path, t *corev1.NodeSelectorTerm, values bool) []string {
	var texts []string
	for i, e := range t.MatchExpressions {
		path := at.Child("matchExpressions").Index(i)
		if why, ok := DeprecatedLabels[e.Key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s is %s", path.Child("key"), e.Key, why))
		}
		if !values {
			continue
		}
		for j, v := range e.Values {
			for _, msg := range validation.IsValidLabelValue(v) {
				texts = append(texts, fmt.Sprintf("%s: %s is invalid, %s", path.Child("values").Index(j), v, msg))
			}
		}
	}
	return texts
}

// ClaimWarnings returns warnings for fractional quantities of storage in a claim's spec.
func ClaimWarnings(at *field.Path, s *corev1.PersistentVolumeClaimSpec) []string {
	texts := FractionWarnings(at.Child("resources", "requests"), s.Resources.Requests, corev1.ResourceStorage)
	return append(texts, FractionWarnings(at.Child("resources", "limits"), s.Resources.Limits, corev1.ResourceStorage)...)
}

// AddressWarnings returns warnings for an address that is not canonical. Validation reports an invalid one.
func AddressWarnings(at *field.Path, ip string) []string {
	if utilnet.ParseIPSloppy(ip) == nil {
		return nil
	}
	return validation.GetWarningsForIP(at, ip)
}

// RangeWarnings returns warnings for a CIDR that is not canonical.
func RangeWarnings(at *field.Path, cidr string) []string {
	if _, _, err := utilnet.ParseCIDRSloppy(cidr); err != nil {
		return nil
	}
	return validation.GetWarningsForCIDR(at, cidr)
}

// LoadBalancerIP is the path of load balancer addresses in a status.
var LoadBalancerIP = field.NewPath("status", "loadBalancer", "ingress")

// FractionWarnings returns warnings for fractional quantities of these resources.
func FractionWarnings(at *field.Path, list corev1.ResourceList, names ...corev1.ResourceName) []string {
	var texts []string
	for _, name := range names {
		if q, ok := list[name]; ok && q.MilliValue()%1000 != 0 {
			texts = append(texts, fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer",
				at.Key(string(name)), q.String()))
		}
	}
	return texts
}
