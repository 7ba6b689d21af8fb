package persistentvolume

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestPodsGetEphemeralClaims runs testdata/ephemeral.
func TestPodsGetEphemeralClaims(t *testing.T) {
	workloadtest.Scenarios(t, "testdata/ephemeral",
		workloadtest.Options{Controllers: []workload.Controller{Ephemeral()},
			Print: func(o workload.Object) string {
				s := o.GetName()
				for _, r := range o.GetOwnerReferences() {
					s += fmt.Sprintf(" of %s %s, controller %v, blocks %v", r.Kind, r.UID, *r.Controller,
						*r.BlockOwnerDeletion)
				}
				if c, ok := o.(*corev1.PersistentVolumeClaim); ok {
					s += fmt.Sprintf(" %v %v %v", c.Labels, c.Annotations, c.Spec.AccessModes)
				}
				return s
			}})
}

// TestOnlyPodsThatNeedClaimsGetAPass: only what may need a claim gets a pass.
func TestOnlyPodsThatNeedClaimsGetAPass(t *testing.T) {
	w := workloadtest.New()
	pod := func(name string, volumes ...corev1.Volume) {
		w.Put(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}, Spec: corev1.PodSpec{Volumes: volumes}})
	}
	scratch := corev1.Volume{Name: "b-c", VolumeSource: corev1.VolumeSource{
		Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}},
	}}
	pod("p", scratch)
	pod("p-b", scratch)
	pod("plain")
	meta := func(name string) *workload.Meta {
		return &workload.Meta{Key: workload.Key{Namespace: "a", Name: name}, Mentions: func(string) bool { return true }}
	}
	for _, c := range []struct {
		about  string
		change workload.Change
		want   []workload.Key
	}{
		{"a new pod", workload.Change{Resource: workload.Pods, New: meta("p")}, []workload.Key{{Namespace: "a", Name: "p"}}},
		{"a new pod without such volumes", workload.Change{Resource: workload.Pods, New: meta("plain")}, nil},
		{"a pod that changes", workload.Change{Resource: workload.Pods, Old: meta("p"), New: meta("p")}, nil},
		{"a pod that goes", workload.Change{Resource: workload.Pods, Old: meta("p")}, nil},
		{
			"a claim that goes", workload.Change{Resource: workload.Claims, Old: meta("p-b-c")},
			[]workload.Key{{Namespace: "a", Name: "p"}},
		},
		{
			"a claim of a pod that has a dash", workload.Change{Resource: workload.Claims, Old: meta("p-b-b-c")},
			[]workload.Key{{Namespace: "a", Name: "p-b"}},
		},
		{"a claim without an owner", workload.Change{Resource: workload.Claims, Old: meta("p-b")}, nil},
		{"a claim that comes", workload.Change{Resource: workload.Claims, New: meta("p-b-c")}, nil},
	} {
		if d := cmp.Diff(c.want, unclaimed(w, c.change)); d != "" {
			t.Errorf("%s: %s", c.about, d)
		}
	}
}
