package simulation

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	podresource "k8s.io/component-helpers/resource"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// amounts are quantities by resource; CPU is in thousandths.
type amounts map[corev1.ResourceName]int64

func amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// amountsOf returns what a pod requests.
func amountsOf(p *corev1.Pod) amounts {
	out := amounts{}
	for name, q := range podresource.PodRequests(p, podresource.PodResourcesOptions{}) {
		out[name] = amount(name, q)
	}
	return out
}

// port is a port of a node.
type port struct {
	protocol corev1.Protocol
	number   int32
	ip       string
}

// everyIP is the address of a port that a pod occupies on all addresses of its node.
const everyIP = "0.0.0.0"

// portsOf returns the ports that a pod occupies on its node.
func portsOf(p *corev1.Pod) (out []port) {
	for _, c := range containersOf(p) {
		for _, has := range c.Ports {
			if has.HostPort > 0 {
				out = append(out, port{cmp.Or(has.Protocol, corev1.ProtocolTCP), has.HostPort, cmp.Or(has.HostIP, everyIP)})
			}
		}
	}
	return out
}

// collides reports whether two pods with these ports can't be on one node.
func (a port) collides(b port) bool {
	return a.protocol == b.protocol && a.number == b.number && (a.ip == b.ip || a.ip == everyIP || b.ip == everyIP)
}

// load is what all pods on a node use together.
type load struct {
	pods    int64
	amounts amounts
	// ports is a list because it is short: most pods have no host ports.
	ports []port
}

func (l *load) occupied(ports []port) bool {
	return slices.ContainsFunc(ports, func(p port) bool { return slices.ContainsFunc(l.ports, p.collides) })
}

// claim is what a pod uses of its node.
type claim struct {
	uid        types.UID
	generation int64
	node       string
	amounts    amounts
	ports      []port
}

// claims holds what the pods on each node use. It includes pods that are being assigned, as kube-scheduler's cache
// includes assumed pods (K pkg/scheduler/backend/cache/cache.go: AssumePod). A claim is as new as the newest state in
// which follow or startPass has read the pod: a Reader is locked while it is used. The zero value is empty.
type claims struct {
	mu sync.Mutex // guards the fields below
	// begun reports whether all pods of a state were counted once.
	begun bool
	pods  map[workload.Key]*claim
	nodes map[string]*load
	// waiting are the pods that may fit after other pods have ended.
	waiting map[workload.Key]struct{}
	// wakeWaiting reports whether startPass has counted a change before follow has received it. follow then finds nothing
	// new to count, but must return the waiting pods nevertheless.
	wakeWaiting bool
}

// follow counts the present state of a pod that has changed. If the pod may use less of its node now, it returns the
// pods that wait.
func (c *claims) follow(r workload.Reader, key workload.Key) []workload.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin(r)
	p := workload.Get[*corev1.Pod](r, key.Namespace, key.Name)
	if p != nil && p.Spec.NodeName == "" && c.pods[key] != nil && c.pods[key].uid == p.UID {
		return nil // it is being assigned
	}
	if !c.count(key, p) && !c.wakeWaiting {
		return nil
	}
	c.wakeWaiting = false
	return slices.SortedFunc(maps.Keys(c.waiting), func(a, b workload.Key) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}

// startPass counts the state of a pod at the beginning of its pass, and reports whether the pod has no node. If claims
// has a node for such a pod, the assignment has failed, and the claim is removed.
func (c *claims) startPass(r workload.Reader, key workload.Key, p *corev1.Pod) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin(r)
	if c.count(key, p) {
		c.wakeWaiting = true
	}
	if p == nil || p.Spec.NodeName != "" {
		delete(c.waiting, key)
		return false
	}
	return true
}

// assign adds a claim for the node that choose returns. choose returns an empty name if no node fits, and whether the
// pod may fit after other pods have ended.
func (c *claims) assign(
	key workload.Key, p *corev1.Pod, choose func(map[string]*load) (node string, wait bool),
) (node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	node, wait := choose(c.nodes)
	if delete(c.waiting, key); wait {
		c.waiting[key] = struct{}{}
	}
	if node != "" {
		c.add(key, p, node)
	}
	return node
}

// begin counts all pods of the first state that it gets.
func (c *claims) begin(r workload.Reader) {
	if c.begun {
		return
	}
	c.begun = true
	c.pods, c.nodes, c.waiting = map[workload.Key]*claim{}, map[string]*load{}, map[workload.Key]struct{}{}
	for _, p := range workload.All[*corev1.Pod](r, "") {
		c.count(workload.KeyOf(p), p)
	}
}

// count replaces a pod's claim by that of its present state, and reports whether an earlier claim has changed or ended.
func (c *claims) count(key workload.Key, p *corev1.Pod) (changed bool) {
	on := p != nil && p.Spec.NodeName != "" && !workload.Finished(p)
	had := c.pods[key]
	if on && had != nil && had.uid == p.UID && had.node == p.Spec.NodeName && had.generation == p.Generation {
		return false
	}
	if had != nil {
		c.remove(key, had)
	}
	if on {
		c.add(key, p, p.Spec.NodeName)
	}
	return had != nil
}

func (c *claims) add(key workload.Key, p *corev1.Pod, node string) {
	has := &claim{uid: p.UID, generation: p.Generation, node: node, amounts: amountsOf(p), ports: portsOf(p)}
	c.pods[key] = has
	l := c.nodes[node]
	if l == nil {
		l = &load{amounts: amounts{}}
		c.nodes[node] = l
	}
	l.pods++
	for name, n := range has.amounts {
		l.amounts[name] += n
	}
	l.ports = append(l.ports, has.ports...)
}

func (c *claims) remove(key workload.Key, had *claim) {
	delete(c.pods, key)
	l := c.nodes[had.node]
	if l.pods--; l.pods == 0 {
		delete(c.nodes, had.node)
		return
	}
	for name, n := range had.amounts {
		l.amounts[name] -= n
	}
	for _, p := range had.ports {
		i := slices.Index(l.ports, p)
		l.ports = slices.Delete(l.ports, i, i+1)
	}
}
