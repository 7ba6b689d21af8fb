package unused

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// pod is one that mounts claims; a name with a + is that of an ephemeral volume.
func pod(name string, phase corev1.PodPhase, volumes ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name + "-uid")}}
	p.Status.Phase = phase
	for i, v := range volumes {
		if v[0] == '+' {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: v[1:], VolumeSource: corev1.VolumeSource{
				Ephemeral: &corev1.EphemeralVolumeSource{}}})
			continue
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", i), VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v}}})
	}
	return p
}

// TestReferences (V-083): pods without a node count, finished ones don't, and each claim once.
func TestReferences(t *testing.T) {
	for _, c := range []struct {
		pod  *corev1.Pod
		want []Reference
	}{
		{pod("p", corev1.PodPending, "b", "a", "b", "+e"), []Reference{{Claim: "b"}, {Claim: "a"}, {"p-e", true}}},
		{pod("p", "", "a"), []Reference{{Claim: "a"}}},
		{pod("p", corev1.PodUnknown, "a"), []Reference{{Claim: "a"}}},
		{pod("p", corev1.PodSucceeded, "a", "+e"), nil},
		{pod("p", corev1.PodFailed, "a", "+e"), nil},
		{pod("p", corev1.PodRunning), nil},
	} {
		if d := cmp.Diff(c.want, References(c.pod)); d != "" {
			t.Errorf("%s, %v: %s", c.pod.Status.Phase, c.pod.Spec.Volumes, d)
		}
	}
}

// TestIndexRandomly compares the index with a search in all pods.
func TestIndexRandomly(t *testing.T) {
	seed := seed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	x, pods := newIndex(), map[Key][]Reference{}
	claims := []Key{{"a", "1"}, {"a", "2"}, {"a", "3"}, {"b", "1"}, {"b", "2"}, {"b", "3"}}
	search := func(claim Key) (u users) {
		for pod, references := range pods {
			for _, r := range references {
				switch {
				case pod.Namespace != claim.Namespace || r.Claim != claim.Name:
				case r.Owned:
					u.owners = append(u.owners, types.UID(pod.Name))
				default:
					u.any = true
				}
			}
		}
		if u.any {
			return users{any: true}
		}
		return sorted(u)
	}
	for i := range 20_000 {
		pod := Key{[]string{"a", "b"}[r.IntN(2)], fmt.Sprint("p", r.IntN(4))}
		var now []Reference
		for _, claim := range []string{"1", "2", "3"} {
			switch r.IntN(5) {
			case 0:
				now = append(now, Reference{Claim: claim})
			case 1:
				now = append(now, Reference{claim, true})
			case 2:
				now = append(now, Reference{Claim: claim}, Reference{claim, true})
			}
		}
		before := map[Key]users{}
		for _, claim := range claims {
			before[claim] = search(claim)
		}
		changed := x.set(pod, types.UID(pod.Name), now)
		pods[pod] = now
		for _, claim := range claims {
			want := search(claim)
			if d := cmp.Diff(want, sorted(x.users(claim)), cmp.AllowUnexported(users{})); d != "" {
				t.Fatalf("seed %d, step %d: users of %v: %s", seed, i, claim, d)
			}
			if !cmp.Equal(before[claim], want, cmp.AllowUnexported(users{})) && !slices.Contains(changed, claim) {
				t.Fatalf("seed %d, step %d: the users of %v changed, and nothing says so", seed, i, claim)
			}
		}
		if i == 10_000 {
			for pod := range pods {
				x.set(pod, "", nil)
				delete(pods, pod)
			}
			if len(x.pods)+len(x.claims) > 0 {
				t.Fatalf("seed %d: without pods the index has %v and %v", seed, x.pods, x.claims)
			}
		}
	}
}

func sorted(u users) users {
	slices.Sort(u.owners)
	return u
}
