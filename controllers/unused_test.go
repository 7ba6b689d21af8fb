package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// claimWorld has the claim "c" and pods, for the condition Unused.
type claimWorld struct{ *workloadtest.World }

func (w claimWorld) claim(name string, phase corev1.PersistentVolumeClaimPhase, owners ...metav1.OwnerReference) {
	c := &corev1.PersistentVolumeClaim{}
	c.Namespace, c.Name, c.OwnerReferences, c.Status.Phase = "ns", name, owners, phase
	w.Put(c)
}

func (w claimWorld) pod(name string, phase corev1.PodPhase, v corev1.VolumeSource) {
	p := &corev1.Pod{}
	p.Namespace, p.Name, p.Status.Phase = "ns", name, phase
	p.Spec.Volumes = []corev1.Volume{{Name: "e", VolumeSource: v}}
	w.Put(p)
}

func (w claimWorld) want(t *testing.T, name string, want ...corev1.PersistentVolumeClaimCondition) {
	t.Helper()
	key := workload.Key{Namespace: "ns", Name: name}
	w.Pass(unusedClaims(), key)
	got := workload.Get[*corev1.PersistentVolumeClaim](w, "ns", name).Status.Conditions
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
	if did := w.Pass(unusedClaims(), key); did != "" {
		t.Errorf("%s is written again: %s", name, did)
	}
}

func naming(claim string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
}

func unusedSince(used bool, at time.Time) corev1.PersistentVolumeClaimCondition {
	c := condition(used)
	c.LastTransitionTime = metav1.NewTime(at)
	return c
}

// TestUnusedConditionFollowsPods (V-083): the condition follows the pods that have not finished, and its time is that
// of the last change of its status. Other conditions are kept.
func TestUnusedConditionFollowsPods(t *testing.T) {
	w := claimWorld{workloadtest.New()}
	start := w.Now
	w.claim("c", corev1.ClaimPending)
	w.want(t, "c")
	resizing := corev1.PersistentVolumeClaimCondition{Type: corev1.PersistentVolumeClaimResizing, Status: "True"}
	c := workload.Get[*corev1.PersistentVolumeClaim](w, "ns", "c").DeepCopy()
	c.Status.Phase, c.Status.Conditions = corev1.ClaimBound, []corev1.PersistentVolumeClaimCondition{resizing}
	w.Put(c)
	w.want(t, "c", resizing, unusedSince(false, start))
	w.Now = w.Now.Add(time.Second)
	w.pod("a", corev1.PodPending, naming("c")) // it has no node
	w.want(t, "c", resizing, unusedSince(true, w.Now))
	w.pod("b", corev1.PodRunning, naming("c"))
	w.Now = w.Now.Add(time.Second)
	w.pod("a", corev1.PodSucceeded, naming("c"))
	w.want(t, "c", resizing, unusedSince(true, start.Add(time.Second)))
	w.pod("b", corev1.PodFailed, naming("c"))
	w.want(t, "c", resizing, unusedSince(false, w.Now))
}

// TestUnusedWakes: passes are over the claims whose condition changes.
func TestUnusedWakes(t *testing.T) {
	w := claimWorld{workloadtest.New()}
	w.claim("c", corev1.ClaimBound)
	w.claim("pending", corev1.ClaimPending)
	w.pod("p", corev1.PodRunning, naming("c"))
	meta := func(name string) *workload.Meta {
		return &workload.Meta{Key: workload.Key{Namespace: "ns", Name: name},
			Claims: func() ([]string, error) { return []string{"c", "pending", "none"}, nil }}
	}
	wakes := func(about string, change workload.Change, want ...workload.Key) {
		t.Helper()
		if diff := cmp.Diff(want, unusedClaims().Wake(w, change), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", about, diff)
		}
	}
	c := workload.Key{Namespace: "ns", Name: "c"}
	created := workload.Change{Resource: workload.Pods, New: meta("p")}
	bound := workload.Change{Resource: workload.Claims, Old: meta("c"), New: meta("c")}
	wakes("a pod mounts a claim", created, c)
	wakes("a claim is bound", bound, c)
	w.Pass(unusedClaims(), c)
	wakes("the condition holds", created)
	wakes("the condition holds", bound)
	wakes("a pod mounts the claim before and after", workload.Change{Resource: workload.Pods, Old: meta("p"),
		New: meta("p")})
	w.pod("p", corev1.PodSucceeded, naming("c"))
	wakes("the pod has finished", workload.Change{Resource: workload.Pods, Old: meta("p"), New: meta("p")}, c)
	w.Remove(workload.Get[*corev1.Pod](w, "ns", "p"))
	wakes("the pod is deleted", workload.Change{Resource: workload.Pods, Old: meta("p")}, c)
}

// TestUnusedEphemeral: the claim of an ephemeral volume is used by the pod that controls it, and by no other of its
// name.
func TestUnusedEphemeral(t *testing.T) {
	w := claimWorld{workloadtest.New()}
	w.pod("p", corev1.PodRunning, corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}})
	yes := true
	own := func(p *corev1.Pod) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes,
			BlockOwnerDeletion: &yes}
	}
	p := workload.Get[*corev1.Pod](w, "ns", "p").DeepCopy()
	other := p.DeepCopy()
	other.UID = "other"
	w.claim("p-e", corev1.ClaimBound, own(other))
	w.want(t, "p-e", unusedSince(false, w.Now))
	w.claim("p-e", corev1.ClaimBound, own(p))
	w.want(t, "p-e", unusedSince(true, w.Now))
}

// TestLostClaimsKeepConditionUnused: claims that are lost or being deleted keep what they have.
func TestLostClaimsKeepConditionUnused(t *testing.T) {
	w := claimWorld{workloadtest.New()}
	w.claim("lost", corev1.ClaimLost)
	w.want(t, "lost")
	w.claim("dying", corev1.ClaimBound)
	c := workload.Get[*corev1.PersistentVolumeClaim](w, "ns", "dying").DeepCopy()
	c.Finalizers = []string{"x"}
	w.Put(c)
	w.Remove(workload.Get[*corev1.PersistentVolumeClaim](w, "ns", "dying"))
	w.want(t, "dying")
}
