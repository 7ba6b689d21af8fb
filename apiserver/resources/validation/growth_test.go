package validation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestTimeDoesNotGrowWithTheSquare: lists that are long, but not wrong, are validated in much less than a second, where
// comparing each item with all others takes minutes.
func TestTimeDoesNotGrowWithTheSquare(t *testing.T) {
	const n = 60_000
	name := func(i int) string { return fmt.Sprint("a", i) }
	other := func(i int) string { return map[bool]string{true: "a", false: "b"}[i%2 == 0] + fmt.Sprint(i) }
	address := func(i int) string { return fmt.Sprintf("10.%d.%d.%d", 1+i>>16, i>>8&255, i&255) }
	pods := func(change func(p *corev1.Pod, name func(i int) string)) (p, old *corev1.Pod) {
		p, old = &corev1.Pod{}, &corev1.Pod{}
		change(p, other)
		change(old, name)
		return p, old
	}
	for what, find := range map[string]func() field.ErrorList{
		"tolerations that stay": func() field.ErrorList {
			p, _ := pods(func(p *corev1.Pod, _ func(i int) string) {
				p.Spec.Tolerations = listOf(n, func(i int) corev1.Toleration {
					return corev1.Toleration{Key: name(i), Operator: corev1.TolerationOpExists}
				})
			})
			return tolerationsUpdate(p.Spec.Tolerations, p.Spec.Tolerations, specPath)
		},
		"half of the secrets changed": func() field.ErrorList {
			return podUpdate(pods(func(p *corev1.Pod, name func(i int) string) {
				p.Spec.ImagePullSecrets = listOf(n, func(i int) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name(i)} })
			}))
		},
		"addresses of a pod": func() field.ErrorList {
			s := &corev1.PodStatus{PodIPs: listOf(n, func(i int) corev1.PodIP { return corev1.PodIP{IP: address(i)} })}
			return podIPs(s, s)
		},
		"topology spread": func() field.ErrorList {
			r := rules(&corev1.PodSpec{}, legacy{})
			return r.spread(listOf(n, func(i int) corev1.TopologySpreadConstraint {
				return corev1.TopologySpreadConstraint{TopologyKey: name(i), MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule}
			}), specPath)
		},
		"statuses of containers": func() field.ErrorList {
			containers := listOf(n/10, func(i int) corev1.Container { return corev1.Container{Name: name(i)} })
			return healths(listOf(n, func(i int) corev1.ContainerStatus { return corev1.ContainerStatus{Name: name(i + n)} }), containers, specPath)
		},
		"unknown claims": func() field.ErrorList {
			r := rules(&corev1.PodSpec{ResourceClaims: listOf(n, func(i int) corev1.PodResourceClaim { return corev1.PodResourceClaim{Name: name(i)} })}, legacy{})
			return r.claimRefs(listOf(n, func(i int) corev1.ResourceClaim { return corev1.ResourceClaim{Name: name(i + n)} }), specPath)
		},
		"capabilities": func() field.ErrorList {
			c := &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: listOf(n, func(int) corev1.Capability { return "CAP_SYS_ADMIN" })}}
			return escalation(c, specPath)
		},
		"drivers of a node": func() field.ErrorList {
			node := &storagev1.CSINode{}
			node.Spec.Drivers = listOf(n, func(i int) storagev1.CSINodeDriver { return storagev1.CSINodeDriver{Name: name(i), NodeID: "a"} })
			return csiNodeUpdate(node, node)
		},
		"topologies of a class": func() field.ErrorList {
			return topologies(listOf(n/10, func(i int) corev1.TopologySelectorTerm {
				return corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: name(i), Values: []string{"a"}}}}
			}), specPath)
		},
		"scopes of a quota": func() field.ErrorList {
			s := &corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{}, Scopes: listOf(n/10, func(int) corev1.ResourceQuotaScope { return corev1.ResourceQuotaScopeBestEffort })}
			for i := range n / 10 {
				s.Hard[corev1.ResourceName("example.com/"+name(i))] = resource.MustParse("1")
			}
			return quotaSpec(s, specPath)
		},
		"names of resources": func() field.ErrorList {
			return namedRule(&admissionv1.NamedRuleWithOperations{ResourceNames: listOf(n, name)}, specPath)
		},
		"versions of reviews": func() field.ErrorList { return reviewVersionsOf(listOf(n, name), webhookTolerance{}, specPath) },
		"networks of a node": func() field.ErrorList {
			return podCIDRs(listOf(n, func(i int) string { return address(i) + "/32" }), specPath)
		},
	} {
		start := time.Now()
		find()
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("%s: %v", what, took)
		} else {
			t.Log(what, took)
		}
	}
}

// TestDifference: what an error shows of a change is apimachinery's, unless it is long.
func TestDifference(t *testing.T) {
	list := func(n int, name string) map[string]any {
		return map[string]any{"a": listOf(n, func(i int) string { return fmt.Sprint(i, name) }), "z": json.RawMessage(`[1]`)}
	}
	if d := difference(list(3, "x"), list(3, "y")); !strings.Contains(d, `+  "0y"`) || !strings.Contains(d, `-  "2x"`) {
		t.Errorf("a short difference: %s", d)
	}
	long := list(100_000, "x")
	changed := list(100_000, "x")
	changed["a"].([]string)[70_000] = "other"
	if d := difference(long, changed); !strings.Contains(d, `+  "other"`) {
		t.Errorf("a short difference of long values: %s", d)
	}
	if d := difference(list(mostLines, "x"), list(mostLines, "y")); !strings.Contains(d, "too long") || len(d) > 100 {
		t.Errorf("a long difference: %d bytes", len(d))
	}
}
