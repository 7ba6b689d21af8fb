package node

import (
	"cmp"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// evictionName is the source of the events, too (cmd/kube-controller-manager/app: newTaintEvictionController).
const evictionName = "taint-eviction-controller"

// Eviction returns taint-eviction-controller. It records scheduled evictions, so each run needs its own controller.
func Eviction() workload.Controller {
	c := &controller{scheduled: map[workload.Key]eviction{}}
	return workload.Controller{
		Name: evictionName, For: workload.Pods, Quiet: true, Sees: []workload.Resource{workload.Nodes},
		Awaits: "tolerationSeconds",
		Wake:   c.affected, Decide: c.decide,
	}
}

// controller keeps the scheduled evictions between passes.
type controller struct {
	mu sync.Mutex
	// scheduled has the pods whose tolerations end at a certain time.
	scheduled map[workload.Key]eviction
}

// eviction is the scheduled deletion of a pod.
type eviction struct {
	uid  types.UID
	node string
	at   time.Time
	// begun reports whether the time has come, so that the eviction can't be cancelled any more.
	begun bool
}

// affected returns a changed pod if its node has taints, and the pods of a changed node that has taints or had them.
// The evictions from a deleted node stay scheduled (taint_eviction.go: handleNodeUpdate).
func (c *controller) affected(r workload.Reader, e workload.Change) (keys []workload.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Resource == workload.Pods {
		m := cmp.Or(e.New, e.Old)
		if _, ok := c.scheduled[m.Key]; ok {
			return []workload.Key{m.Key}
		}
		if n := workload.Get[*corev1.Node](r, "", m.Node); n == nil || !evicts(n) || e.New == nil {
			return nil
		}
		return []workload.Key{m.Key}
	}
	if e.New == nil {
		return nil
	}
	if n := workload.Get[*corev1.Node](r, "", e.New.Name); n == nil || !evicts(n) {
		for k, s := range c.scheduled {
			if s.node == e.New.Name {
				keys = append(keys, k)
			}
		}
		return keys // the engine sorts them
	}
	return workload.KeysOf(workload.All[*corev1.Pod](r, ""), func(p *corev1.Pod) bool {
		return p.Spec.NodeName == e.New.Name && !deleted(p)
	})
}

func executes(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute }

// evicts reports whether the node has NoExecute taints.
func evicts(n *corev1.Node) bool { return slices.ContainsFunc(n.Spec.Taints, executes) }
