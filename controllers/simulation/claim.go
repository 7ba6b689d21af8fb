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

// amounts are quantities of resources, CPU in thousandths.
type amounts map[corev1.ResourceName]int64

func amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// amountsOf is what a pod requests.
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

// everyIP is the address of a port that is occupied on every address.
const everyIP = "0.0.0.0"

// portsOf are the ports that a pod occupies on its node.
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

// collides reports whether one of two pods with these ports must be on another node.
func (a port) collides(b port) bool {
	return a.protocol == b.protocol && a.number == b.number && (a.ip == b.ip || a.ip == everyIP || b.ip == everyIP)
}

// load is what the pods on a node have of it.
type load struct {
	pods    int64
	amounts amounts
	// ports are few: most pods have none.
	ports []port
}

func (l *load) occupied(ports []port) bool {
	return slices.ContainsFunc(ports, func(p port) bool { return slices.ContainsFunc(l.ports, p.collides) })
}

// claim is what a pod has of its node.
type claim struct {
	uid        types.UID
	generation int64
	node       string
	amounts    amounts
	ports      []port
}

// claims has what the pods on each node request, with the pods that are being assigned, as kube-scheduler's cache has
// assumed pods (K pkg/scheduler/backend/cache/cache.go: AssumePod). An entry is as new as the newest view in which
// follow or waits has seen the pod: views are locked while they are read. The zero value is empty.
type claims struct {
	mu sync.Mutex // guards the fields below
	// begun reports whether the pods of the first view were counted.
	begun bool
	pods  map[workload.Key]*claim
	nodes map[string]*load
	// short are the pods that wait for the end of others.
	short map[workload.Key]struct{}
	// freed reports whether a pass has counted what a pod has left before follow has. A pass may see a change before
	// its event arrives, which follow then finds counted: short must have passes all the same.
	freed bool
}

// follow counts the present state of a pod. It returns the pods that wait for others if it has changed what its node
// has left.
func (c *claims) follow(r workload.Reader, key workload.Key) []workload.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin(r)
	p := workload.Get[*corev1.Pod](r, key.Namespace, key.Name)
	if p != nil && p.Spec.NodeName == "" && c.pods[key] != nil && c.pods[key].uid == p.UID {
		return nil // it is being assigned
	}
	if !c.count(key, p) && !c.freed {
		return nil
	}
	c.freed = false
	return slices.SortedFunc(maps.Keys(c.short), func(a, b workload.Key) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}

// waits counts the state of a pod at the beginning of its pass, and reports whether it is not assigned. If it was being
// assigned, that has failed.
func (c *claims) waits(r workload.Reader, key workload.Key, p *corev1.Pod) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin(r)
	if c.count(key, p) {
		c.freed = true
	}
	if p == nil || p.Spec.NodeName != "" {
		delete(c.short, key)
		return false
	}
	return true
}

// assign claims a node for a pod. choose returns the node, empty if there is none, and whether the pod waits for
// others.
func (c *claims) assign(
	key workload.Key, p *corev1.Pod, choose func(map[string]*load) (node string, short bool),
) (node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	node, short := choose(c.nodes)
	if delete(c.short, key); short {
		c.short[key] = struct{}{}
	}
	if node != "" {
		c.add(key, p, node)
	}
	return node
}

// begin counts the pods of the first view.
func (c *claims) begin(r workload.Reader) {
	if c.begun {
		return
	}
	c.begun = true
	c.pods, c.nodes, c.short = map[workload.Key]*claim{}, map[string]*load{}, map[workload.Key]struct{}{}
	for _, p := range workload.All[*corev1.Pod](r, "") {
		c.count(workload.KeyOf(p), p)
	}
}

// count replaces the claim of a pod by that of its present state, and reports whether one was changed or removed.
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
