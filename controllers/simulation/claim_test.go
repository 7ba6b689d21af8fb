package simulation

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// cluster has two nodes of 2 CPUs and a scheduler that follows it.
type cluster struct {
	*testing.T
	world     *workloadtest.World
	scheduler workload.Controller
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t, workloadtest.New(), Scheduler(true, Options{})}
	for _, name := range []string{"a", "b"} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
		fresh(n)
		c.world.Put(n)
	}
	return c
}

// pod stores a pod that requests CPUs, and occupies the port unless it is 0.
func (c *cluster) pod(name string, cpu int, port int32) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(cpu), resource.DecimalSI)}}}}
	if port != 0 {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: port}}
	}
	c.world.Put(p)
}

func (c *cluster) get(name string) *corev1.Pod { return workload.Get[*corev1.Pod](c.world, "x", name) }

// pass runs a pass over a pod, as the engine does after a change of it, and returns the pod's node.
func (c *cluster) pass(name string) string {
	c.Helper()
	c.world.Pass(c.scheduler, workload.Key{Namespace: "x", Name: name})
	c.changed(name)
	if p := c.get(name); p != nil {
		return p.Spec.NodeName
	}
	return ""
}

// changed tells the scheduler that a pod was changed, and returns the pods that it passes over then.
func (c *cluster) changed(name string) []workload.Key {
	key := workload.Key{Namespace: "x", Name: name}
	return c.scheduler.Wake(c.world, workload.Change{
		Resource: workload.Pods, Old: &workload.Meta{Key: key}, New: metaOf(c.world, key),
	})
}

// metaOf returns the metadata of a pod, nil if there is none.
func metaOf(w *workloadtest.World, key workload.Key) *workload.Meta {
	p := workload.Get[*corev1.Pod](w, key.Namespace, key.Name)
	if p == nil {
		return nil
	}
	return &workload.Meta{Key: key, UID: p.UID, Node: p.Spec.NodeName, Labels: p.Labels}
}

func (c *cluster) want(got, want any) {
	c.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.Errorf("%v, want %v", got, want)
	}
}

// TestPodWaitsUntilOthersEnd: a pod that finds no place waits for the end of others, whether they finish or are
// deleted.
func TestPodWaitsUntilOthersEnd(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"p", "q", "r", "s"} {
		c.pod(name, 2, 0)
	}
	c.want([]string{c.pass("p"), c.pass("q"), c.pass("r"), c.pass("s")}, "[a b  ]")
	done := c.get("p").DeepCopy()
	done.Status.Phase = corev1.PodSucceeded
	c.world.Put(done)
	c.want(c.changed("p"), "[x/r x/s]")
	c.want([]string{c.pass("r"), c.pass("s")}, "[a ]")
	c.world.Remove(c.get("q"))
	c.want(c.changed("q"), "[]") // it is terminating
	c.world.Remove(c.get("q"))
	c.want(c.changed("q"), "[x/s]")
	c.want(c.pass("s"), "b")
	c.want(c.changed("s"), "[]")
}

// TestWaitingPodGetsAPassAfterUnseenEnd: a pod that waits gets a pass after another one has ended, even if a pass over
// that one has seen its end before the event arrives.
func TestWaitingPodGetsAPassAfterUnseenEnd(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"p", "q", "r"} {
		c.pod(name, 2, 0)
	}
	c.want([]string{c.pass("p"), c.pass("q"), c.pass("r")}, "[a b ]")
	c.world.Remove(c.get("q"))
	c.want(c.changed("q"), "[]")
	c.world.Remove(c.get("q"))
	c.world.Pass(c.scheduler, workload.Key{Namespace: "x", Name: "q"}) // for the event before
	c.want(c.changed("q"), "[x/r]")
	c.want(c.changed("q"), "[]")
	c.want(c.pass("r"), "b")
}

// TestWaitingPodGetsAPassAfterAssignment: a pod that must be near others gets a pass when one of them is assigned or
// gets other labels, and one that lacks resources does not.
func TestWaitingPodGetsAPassAfterAssignment(t *testing.T) {
	c := newCluster(t)
	c.pod("large", 3, 0)
	c.pod("near", 1, 0)
	near := c.get("near").DeepCopy()
	near.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}}}}}
	c.world.Put(near)
	c.want([]string{c.pass("large"), c.pass("near")}, "[ ]")
	c.pod("db", 1, 0)
	c.want(c.scheduler.Decide(workload.View{Reader: c.world, Key: workload.Key{Namespace: "x", Name: "db"},
		Object: c.get("db")}, time.Unix(0, 0)).Do, "[bind Pod db to a]")
	db := c.get("db").DeepCopy()
	db.Spec.NodeName = "a"
	c.world.Put(db)
	c.want(c.changed("db"), "[x/near]")
	c.want(c.changed("db"), "[]")
	c.want(c.pass("near"), "")
	db.Labels = map[string]string{"app": "db"}
	c.world.Put(db)
	c.want(c.changed("db"), "[x/near]")
	c.want(c.pass("near"), "a")
}

// TestHostPortsExcludeEachOther: two pods with one port of the host are on different nodes.
func TestHostPortsExcludeEachOther(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"p", "q", "r"} {
		c.pod(name, 0, 80)
	}
	c.pod("other", 0, 81)
	c.want([]string{c.pass("p"), c.pass("q"), c.pass("r"), c.pass("other")}, "[a b  a]")
	for _, cond := range c.get("r").Status.Conditions {
		c.want(cond.Message, "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports. no new "+
			"claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.")
	}
}

// TestPodCountsWhileItIsAssigned: a pod that is being assigned counts before its assignment is seen, and no longer if
// that fails.
func TestPodCountsWhileItIsAssigned(t *testing.T) {
	c := newCluster(t)
	c.pod("p", 2, 0)
	c.pod("q", 2, 0)
	view := func(name string) workload.View {
		return workload.View{Reader: c.world, Key: workload.Key{Namespace: "x", Name: name}, Object: c.get(name)}
	}
	plan := c.scheduler.Decide(view("p"), time.Unix(0, 0))
	c.want(plan.Do, "[bind Pod p to a]")
	c.want(c.changed("p"), "[x/p]")
	c.want(c.scheduler.Decide(view("q"), time.Unix(0, 0)).Do, "[bind Pod q to b]")
	failed := view("p")
	failed.Failed = &workload.Failure{Action: plan.Do[0], Err: fmt.Errorf("no")}
	c.want(c.scheduler.Decide(failed, time.Unix(0, 0)).Do, "[]")
	c.pod("third", 2, 0)
	c.want(c.scheduler.Decide(view("third"), time.Unix(0, 0)).Do, "[bind Pod third to a]")
}

// TestPodCountsWhileItsClaimsAreBound: a pod whose volumes are being bound for a node counts there, and as a user of
// its claims.
func TestPodCountsWhileItsClaimsAreBound(t *testing.T) {
	c := newCluster(t)
	var users []string
	c.scheduler = Scheduler(true, Options{Nodes: []*corev1.Node{{}}, Volumes: func(
		r workload.Reader, _ *corev1.Pod, assigned func(*corev1.Pod) bool,
	) (string, func(*corev1.Node) string, func(*corev1.Node) ([]workload.Action, bool)) {
		for _, p := range workload.All[*corev1.Pod](r, "") {
			if assigned(p) {
				users = append(users, p.Name)
			}
		}
		return "", func(*corev1.Node) string { return "" },
			func(n *corev1.Node) ([]workload.Action, bool) { return nil, n.Name != "a" }
	}})
	c.pod("p", 2, 0)
	c.pod("q", 2, 0)
	decide := func(name string) []workload.Action {
		return c.scheduler.Decide(workload.View{
			Reader: c.world, Key: workload.Key{Namespace: "x", Name: name}, Object: c.get(name),
		}, time.Unix(0, 0)).Do
	}
	c.want(decide("p"), "[]")
	c.want(decide("q"), "[bind Pod q to b]")
	if got := fmt.Sprint(users); got != "[p]" {
		t.Errorf("assigned while q is: %s", got)
	}
	c.want(c.changed("p"), "[x/p]") // its place is kept while its claims are bound
	c.want(decide("p"), "[]")
}

// TestClaimsEqualThoseOfStoredPods: after any changes the claims are those of the stored pods.
func TestClaimsEqualThoseOfStoredPods(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var had claims
	w := workloadtest.New()
	for range 2000 {
		name := fmt.Sprintf("p%d", random.IntN(8))
		key := workload.Key{Namespace: "x", Name: name}
		p := workload.Get[*corev1.Pod](w, "x", name)
		switch {
		case p == nil:
			p = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name}}
			p.Spec.Containers = []corev1.Container{{Name: "c", Ports: []corev1.ContainerPort{{HostPort: 80}}}}
			if random.IntN(2) == 0 {
				p.Spec.NodeName = "a"
			}
			w.Put(p)
		case random.IntN(4) == 0:
			w.Remove(p)
			if p = workload.Get[*corev1.Pod](w, "x", name); p != nil {
				w.Remove(p)
			}
		case p.Spec.NodeName == "" && random.IntN(2) == 0:
			if had.startPass(w, key, p, true) {
				had.assign(key, p, func(*claims) (string, effect) { return "b", 0 })
				p = p.DeepCopy()
				p.Spec.NodeName = "b"
				w.Put(p)
			}
		default:
			p = p.DeepCopy()
			p.Generation++
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
				corev1.ResourceCPU: *resource.NewMilliQuantity(random.Int64N(100), resource.DecimalSI),
			}
			if random.IntN(4) == 0 {
				p.Status.Phase = corev1.PodFailed
			}
			w.Put(p)
		}
		had.follow(w, key, metaOf(w, key))
		var fresh claims
		fresh.begin(w)
		for _, c := range []*claims{&had, &fresh} {
			for _, l := range c.loads {
				l.amounts = append(amounts(nil), slices.DeleteFunc(l.amounts, func(a amount) bool { return a.n == 0 })...)
			}
		}
		if !reflect.DeepEqual(had.loads, fresh.loads) || len(had.pods) != len(fresh.pods) {
			t.Fatalf("%+v, counted again %+v", had.loads, fresh.loads)
		}
	}
}
