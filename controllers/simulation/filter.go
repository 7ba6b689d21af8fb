package simulation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// wants has a pod's requirements of a node.
type wants struct {
	pod      *corev1.Pod
	affinity nodeaffinity.RequiredNodeAffinity
	// named is the only possible node, as for DaemonSets' pods; empty for all.
	named    string
	requests amounts
	ports    []port
	// volumes returns the reason why the volumes of the pod can't be used on a node; it is nil if the pod has no
	// claims.
	volumes func(*corev1.Node) string
	spread  []spread
	others  relations
}

// wants parses a pod. Resources that no node declares are ignored.
func (c *claims) wants(r workload.Reader, p *corev1.Pod) *wants {
	w := &wants{pod: p, affinity: nodeaffinity.GetRequiredNodeAffinity(p), ports: portsOf(p)}
	if terms := workload.NodeTerms(p); len(terms) == 1 { // several are alternatives
		w.named = workload.NamedNode(terms[0])
	}
	w.requests = slices.DeleteFunc(requestsOf(p), func(a amount) bool { return !c.places.declared[a.of] })
	w.spread = c.spreads(p, w.affinity)
	w.others = c.relations(p, func(namespace string) labels.Set {
		if n := workload.Get[*corev1.Namespace](r, "", namespace); n != nil {
			return n.Labels
		}
		return nil
	})
	return w
}

// filter returns the reasons why a node doesn't fit, none if it does. resolvable reports whether the removal of other
// pods could help.
type filter func(w *wants, p *place) (reasons []string, resolvable bool)

// unless returns a filter that rejects the nodes that don't fit, for one reason.
func unless(reason string, resolvable bool, fits func(w *wants, p *place) bool) filter {
	reasons := []string{reason}
	return func(w *wants, p *place) ([]string, bool) {
		if fits(w, p) {
			return nil, false
		}
		return reasons, resolvable
	}
}

// filters has the filters of the default plugins, in their order (K pkg/scheduler/apis/config/v1/default_plugins.go;
// the messages: pkg/scheduler/framework/plugins).
var filters = []filter{
	// The part of NodeAffinity that runs before the filters (K pkg/scheduler/schedule_one.go: findNodesThatFitPod).
	unless("node(s) didn't satisfy plugin(s) [NodeAffinity]", false, func(w *wants, p *place) bool {
		return w.named == "" || w.named == p.node.Name
	}),
	// NodeUnschedulable.
	unless("node(s) were unschedulable", false, func(w *wants, p *place) bool {
		return !p.node.Spec.Unschedulable ||
			workload.Tolerates(w.pod.Spec.Tolerations, cordoned, corev1.TaintEffectNoSchedule)
	}),
	// TaintToleration.
	unless("node(s) had untolerated taint(s)", false, func(w *wants, p *place) bool { return tolerates(w.pod, p.repel) }),
	// NodeAffinity. An affinity that can't be parsed is rejected by validation.
	unless("node(s) didn't match Pod's node affinity/selector", false, func(w *wants, p *place) bool {
		ok, err := w.affinity.Match(p.node)
		return ok && err == nil
	}),
	// NodePorts.
	unless("node(s) didn't have free ports for the requested pod ports", true, func(w *wants, p *place) bool {
		return !p.occupied(w.ports)
	}),
	hasResources, hasVolumes, isSpread, isRelated,
}

var cordoned = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}

// misfits returns the reasons of the first filter that rejects a node.
func (w *wants) misfits(p *place) (reasons []string, resolvable bool) {
	for _, f := range filters {
		if reasons, resolvable = f(w, p); len(reasons) > 0 {
			return reasons, resolvable
		}
	}
	return nil, false
}

func tolerates(p *corev1.Pod, taints []corev1.Taint) bool {
	return len(taints) == 0 || workload.Tolerates(p.Spec.Tolerations, taints, corev1.TaintEffectNoSchedule) &&
		workload.Tolerates(p.Spec.Tolerations, taints, corev1.TaintEffectNoExecute)
}

// hasResources is the filter NodeResourcesFit. A request for more than the node has is not resolvable (K
// pkg/scheduler/framework/plugins/noderesources/fit.go: fitsRequest).
func hasResources(w *wants, p *place) (reasons []string, resolvable bool) {
	resolvable = true
	if p.pods >= p.limit {
		reasons = append(reasons, "Too many pods")
	}
	for _, r := range w.requests {
		if has := p.allocatable.get(r.of); r.n > has-p.amounts.get(r.of) {
			reasons = append(reasons, "Insufficient "+string(r.of))
			resolvable = resolvable && r.n <= has
		}
	}
	return reasons, resolvable
}

// hasVolumes is the filter VolumeBinding.
func hasVolumes(w *wants, p *place) ([]string, bool) {
	if w.volumes == nil {
		return nil, false
	}
	if why := w.volumes(p.node); why != "" {
		return []string{why}, false
	}
	return nil, false
}

// avoided counts the untolerated taints with the effect PreferNoSchedule.
func (w *wants) avoided(p *place) (out int64) {
	for i := range p.avoid {
		if !workload.Tolerates(w.pod.Spec.Tolerations, p.avoid[i:i+1], corev1.TaintEffectPreferNoSchedule) {
			out++
		}
	}
	return out
}

// free returns the share of CPU and memory, in percent of each, that would remain (K
// pkg/scheduler/framework/plugins/noderesources/least_allocated.go: leastResourceScorer).
func (w *wants) free(p *place) (out int64) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if has := p.allocatable.get(name); has > 0 {
			out += int64(float64(has-p.amounts.get(name)-w.requests.get(name)) * 100 / float64(has))
		}
	}
	return out
}
