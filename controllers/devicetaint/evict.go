package devicetaint

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// name is the source of the events, too (cmd/kube-controller-manager/app: newDeviceTaintEvictionController).
const name = "device-taint-eviction-controller"

// memory is the state that the two parts of the controller share.
type memory struct {
	// mu guards the fields below.
	mu        sync.Mutex
	scheduled map[workload.Key]scheduled
	// rules has the records of rules by their uids.
	rules map[types.UID]known
}

// known is the record of a rule.
type known struct {
	// generation is the generation of the spec for which the pods of all claims got a pass.
	generation int64
	// counted is the time of the last count of the pods to evict that agreed with the status.
	counted time.Time
	evicted int
}

// scheduled is the eviction of a pod.
type scheduled struct {
	uid   types.UID
	rules []types.UID
	// begun reports whether the pod's deletion has been requested.
	begun bool
}

// New returns the two parts of device-taint-eviction-controller: for pods, and for the status of DeviceTaintRules. The
// first, which makes the shared memory empty, must be called first.
func New() (pods, rules func() workload.Controller) {
	m := &memory{}
	pods = func() workload.Controller {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.scheduled, m.rules = map[workload.Key]scheduled{}, map[types.UID]known{}
		return workload.Controller{
			Name: name, For: workload.Pods, Quiet: true, Awaits: "tolerationSeconds of a device's taint",
			Sees: []workload.Resource{workload.ResourceClaims, workload.ResourceSlices, workload.TaintRules},
			Wake: m.affected, Decide: m.decide,
		}
	}
	rules = func() workload.Controller {
		return workload.Controller{
			Name: name, For: workload.TaintRules, Awaits: "the next status of a rule",
			Sees: []workload.Resource{workload.Pods, workload.ResourceClaims, workload.ResourceSlices},
			Wake: counting, Decide: m.decideRule,
		}
	}
	return pods, rules
}

// end drops an eviction. If the pod was deleted, it is counted for its rules.
func (m *memory) end(key workload.Key, s scheduled) {
	delete(m.scheduled, key)
	if s.begun {
		for _, rule := range s.rules {
			k := m.rules[rule]
			k.evicted++
			m.rules[rule] = k
		}
	}
}

// affected returns a changed pod if it may use devices, the pods of a changed claim, and the pods with devices of a
// changed slice's pool. After a change of a rule's spec, and after deletions, which do not name the deleted object, it
// returns the pods of all claims.
func (m *memory) affected(r workload.Reader, e workload.Change) []workload.Key {
	m.mu.Lock()
	defer m.mu.Unlock()
	changed := cmp.Or(e.New, e.Old)
	switch e.Resource {
	case workload.Pods:
		if _, ok := m.scheduled[changed.Key]; ok || usesDevices(r, changed.Key) {
			return []workload.Key{changed.Key}
		}
		return nil
	case workload.ResourceClaims:
		keys := slices.DeleteFunc(slices.Collect(maps.Keys(m.scheduled)), func(k workload.Key) bool {
			return k.Namespace != changed.Namespace
		})
		if c := workload.Get[*resourcev1.ResourceClaim](r, changed.Namespace, changed.Name); c != nil {
			keys = append(keys, consumers([]*resourcev1.ResourceClaim{c})...)
		}
		return keys
	case workload.ResourceSlices:
		if s := workload.Get[*resourcev1.ResourceSlice](r, "", changed.Name); s != nil && e.New != nil {
			used := ofPool(workload.All[*resourcev1.ResourceClaim](r, ""), pool{s.Spec.Driver, s.Spec.Pool.Name})
			return consumers(used)
		}
	case workload.TaintRules:
		rule := workload.Get[*resourcev1.DeviceTaintRule](r, "", changed.Name)
		if rule != nil && e.New != nil {
			k := m.rules[rule.UID]
			if k.generation == rule.Generation {
				return nil
			}
			k.generation = rule.Generation
			m.rules[rule.UID] = k
		}
	}
	return slices.AppendSeq(consumers(workload.All[*resourcev1.ResourceClaim](r, "")), maps.Keys(m.scheduled))
}

// usesDevices reports whether a pod has claims.
func usesDevices(r workload.Reader, key workload.Key) bool {
	if len(r.All(workload.ResourceClaims, key.Namespace)) == 0 {
		return false
	}
	p := workload.Get[*corev1.Pod](r, key.Namespace, key.Name)
	return p != nil && len(p.Spec.ResourceClaims) > 0
}

// decide schedules, cancels or carries out the eviction of a pod (handlePod, maybeDeletePod).
func (m *memory) decide(v workload.View, now time.Time) (plan workload.Plan) {
	p, _ := v.Object.(*corev1.Pod)
	alive := p != nil && p.DeletionTimestamp == nil
	var e eviction
	var ok bool
	if alive {
		e, ok = taintsOf(v, evicting(v)).evictionOf(p)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, pending := m.scheduled[v.Key]
	if pending && (!alive || p.UID != s.uid) {
		m.end(v.Key, s)
		pending = false
	}
	if !alive {
		return plan
	}
	if !ok {
		if pending {
			s.begun = false
			m.end(v.Key, s)
			plan.Notes = []workload.Note{note(p, "Cancelling deletion")}
		}
		return plan
	}
	wait := e.at.Sub(now)
	m.scheduled[v.Key] = scheduled{uid: p.UID, rules: e.rules, begun: wait <= 0}
	if wait > 0 {
		plan.Again = wait
		return plan
	}
	plan.Do = workload.Disrupt(p, corev1.PodCondition{Reason: "DeletionByDeviceTaintManager",
		Message: "Device Taint manager: deleting due to NoExecute taint", LastTransitionTime: metav1.NewTime(now)})
	plan.Notes = []workload.Note{note(p, "Marking for deletion")}
	return plan
}

// note returns an event about a pod (emitPodDeletionEvent, emitCancelPodDeletionEvent).
func note(p *corev1.Pod, message string) workload.Note {
	return workload.Note{
		About: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID}},
		Event: workload.Normal("DeviceTaintManagerEviction", message),
	}
}
