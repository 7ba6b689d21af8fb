package simulation

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	podresource "k8s.io/component-helpers/resource"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// amounts are quantities by resource, few enough to be searched in order; CPU is in thousandths.
type amounts []amount

type amount struct {
	of corev1.ResourceName
	n  int64
}

// amountsOf converts quantities, in the order of their names.
func amountsOf(all corev1.ResourceList) (out amounts) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		q := all[name]
		n := q.Value()
		if name == corev1.ResourceCPU {
			n = q.MilliValue()
		}
		out = append(out, amount{name, n})
	}
	return out
}

func requestsOf(p *corev1.Pod) amounts {
	return slices.DeleteFunc(amountsOf(podresource.PodRequests(p, podresource.PodResourcesOptions{})),
		func(a amount) bool { return a.n == 0 })
}

// get returns the amount of a resource; 0 if there is none.
func (a amounts) get(name corev1.ResourceName) int64 {
	for i := range a {
		if a[i].of == name {
			return a[i].n
		}
	}
	return 0
}

// plus adds other amounts, factor times.
func (a amounts) plus(others amounts, factor int64) amounts {
	for _, o := range others {
		i := slices.IndexFunc(a, func(has amount) bool { return has.of == o.of })
		if i < 0 {
			i, a = len(a), append(a, amount{of: o.of})
		}
		a[i].n += factor * o.n
	}
	return a
}

type port struct {
	protocol corev1.Protocol
	number   int32
	ip       string
}

// everyIP is the address of a port that a pod occupies on all addresses of its node.
const everyIP = "0.0.0.0"

// portsOf returns the ports that a pod occupies on its node.
func portsOf(p *corev1.Pod) (out []port) {
	for _, c := range workload.LastingContainers(p) {
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

// claim has the resources that a pod uses on its node, and the fields of the pod that matter to other pods.
type claim struct {
	uid        types.UID
	generation int64
	node       string
	requests   amounts
	ports      []port
	labels     map[string]string
	anti       []term
	// ending reports whether the pod is being deleted, and seen whether its assignment to the node was read.
	ending, seen bool
}

// claims has the nodes and the resources that the pods on each use. It includes pods that are being assigned, as
// kube-scheduler's cache includes assumed pods (K pkg/scheduler/backend/cache/cache.go: AssumePod). A claim is as new
// as the newest state in which follow or startPass has read the pod: a Reader is locked while it is used. The zero
// value is empty.
type claims struct {
	mu sync.Mutex // guards the fields below
	// begun reports whether all pods of a state were counted once.
	begun  bool
	places places
	// pods has the claims by namespace and name, repelling those of pods with anti-affinity.
	pods      map[string]map[string]*claim
	repelling map[*claim]bool
	loads     map[string]*load
	// waiting has the pods without a node, with the effects that may help them.
	waiting map[workload.Key]effect
	// unseen has the effects of changes that startPass has counted before follow receives them. follow then finds
	// nothing new to count, but must still return the waiting pods.
	unseen effect
}

// effect is a set of bits: the effects that a change may have on waiting pods.
type effect int

const (
	// freed: a pod may use less of its node.
	freed effect = 1 << iota
	// moved: there are other pods on a node, or they have other labels.
	moved
	// stored: there are other volumes or classes of them.
	stored
)

// follow counts the present state of a pod that has changed, and returns the pods that this may help. m is nil if the
// pod was deleted.
func (c *claims) follow(r workload.Reader, key workload.Key, m *workload.Meta) []workload.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin(r)
	e, had := c.unseen, c.pods[key.Namespace][key.Name]
	switch waits := m != nil && m.Node == ""; {
	case waits && had != nil && had.uid == m.UID:
		return nil // it is being assigned
	case !waits:
		delete(c.waiting, key)
		fallthrough
	case had != nil:
		e |= c.count(key, workload.Get[*corev1.Pod](r, key.Namespace, key.Name))
	}
	if has := c.pods[key.Namespace][key.Name]; has != nil && m != nil && maps.Equal(has.labels, m.Labels) {
		has.labels = m.Labels // the cache has them, too
	}
	c.unseen = 0
	if e == 0 {
		return nil
	}
	return c.helped(e)
}

// waitFor returns the waiting pods that an effect may help, in order.
func (c *claims) waitFor(e effect) []workload.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.helped(e)
}

func (c *claims) helped(e effect) (out []workload.Key) {
	for key, helped := range c.waiting {
		if helped&e != 0 {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, workload.Key.Compare)
	return out
}

// all returns the waiting pods.
func (c *claims) all() []workload.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.waiting))
}

// startPass counts the state of a pod at the beginning of its pass, and reports whether the pod has no node. If claims
// has a node for such a pod, the pod's PersistentVolumeClaims are being bound for that node, and the pod keeps its
// place there until assign. If the assignment has failed, the claim is removed.
func (c *claims) startPass(r workload.Reader, key workload.Key, p *corev1.Pod, failed bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin(r)
	had := c.pods[key.Namespace][key.Name]
	if failed || p == nil || p.Spec.NodeName != "" || p.DeletionTimestamp != nil || had == nil || had.uid != p.UID {
		c.unseen |= c.count(key, p)
	}
	if p == nil || p.Spec.NodeName != "" {
		delete(c.waiting, key)
		return false
	}
	return true
}

// assign adds a claim for the node that choose returns. choose returns an empty name if no node fits, and the effects
// that may help then.
func (c *claims) assign(
	key workload.Key, p *corev1.Pod, choose func(*claims) (node string, helped effect),
) (node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	had := c.pods[key.Namespace][key.Name]
	if had != nil {
		c.remove(key, had)
	}
	node, helped := choose(c)
	if had != nil && had.node != node {
		c.unseen |= freed | moved
	}
	if node == "" {
		c.waiting[key] = helped
		return ""
	}
	delete(c.waiting, key)
	c.add(key, p, node)
	return node
}

// begin counts all pods of the first state that it gets.
func (c *claims) begin(r workload.Reader) {
	if c.begun {
		return
	}
	c.begun = true
	c.pods, c.repelling = map[string]map[string]*claim{}, map[*claim]bool{}
	c.loads, c.waiting = map[string]*load{}, map[workload.Key]effect{}
	for _, p := range workload.All[*corev1.Pod](r, "") {
		c.count(workload.KeyOf(p), p)
	}
}

// count replaces a pod's claim by that of its present state, and returns the effect.
func (c *claims) count(key workload.Key, p *corev1.Pod) (e effect) {
	on := p != nil && p.Spec.NodeName != "" && !workload.Finished(p)
	had := c.pods[key.Namespace][key.Name]
	if on && had != nil && had.uid == p.UID && had.node == p.Spec.NodeName && had.generation == p.Generation {
		if ending := p.DeletionTimestamp != nil; !had.seen || had.ending != ending || !maps.Equal(had.labels, p.Labels) {
			had.seen, had.ending, had.labels = true, ending, p.Labels
			return moved
		}
		return 0
	}
	if had != nil {
		c.remove(key, had)
		e = freed | moved
	}
	if on {
		c.add(key, p, p.Spec.NodeName)
		c.pods[key.Namespace][key.Name].seen = true
		e |= moved
	}
	return e
}

func (c *claims) add(key workload.Key, p *corev1.Pod, node string) {
	has := &claim{uid: p.UID, generation: p.Generation, node: node, requests: requestsOf(p), ports: portsOf(p),
		labels: p.Labels, ending: p.DeletionTimestamp != nil}
	_, has.anti = affinitiesOf(p)
	if c.pods[key.Namespace] == nil {
		c.pods[key.Namespace] = map[string]*claim{}
	}
	c.pods[key.Namespace][key.Name] = has
	if has.anti != nil {
		c.repelling[has] = true
	}
	l := c.load(node)
	l.pods++
	l.amounts = l.amounts.plus(has.requests, 1)
	l.ports = append(l.ports, has.ports...)
}

// assigned reports whether a pod is on a node, or is being assigned.
func (c *claims) assigned(p *corev1.Pod) bool {
	return p.Spec.NodeName != "" || c.pods[p.Namespace][p.Name] != nil
}

func (c *claims) load(node string) *load {
	if c.loads[node] == nil {
		c.loads[node] = &load{}
	}
	return c.loads[node]
}

func (c *claims) remove(key workload.Key, had *claim) {
	delete(c.repelling, had)
	if delete(c.pods[key.Namespace], key.Name); len(c.pods[key.Namespace]) == 0 {
		delete(c.pods, key.Namespace)
	}
	l := c.loads[had.node]
	if l.pods--; l.pods == 0 && c.places.named[had.node] == nil {
		delete(c.loads, had.node)
	}
	l.amounts = l.amounts.plus(had.requests, -1)
	for _, p := range had.ports {
		i := slices.Index(l.ports, p)
		l.ports = slices.Delete(l.ports, i, i+1)
	}
}
