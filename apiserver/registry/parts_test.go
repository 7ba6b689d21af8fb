package registry

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func pod(name, node, phase string) runtime.Object {
	return &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: name}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: corev1.PodPhase(phase)}}
}

func custom(name, node, phase string) runtime.Object {
	return &unstructured.Unstructured{Object: map[string]any{"kind": "C", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"node": node}, "status": map[string]any{"phase": phase}}}
}

func TestPartsOfObjectsAreComparedSeparately(t *testing.T) {
	for name, of := range map[string]func(name, node, phase string) runtime.Object{"typed": pod, "unstructured": custom} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				what       string
				a, b       runtime.Object
				same, spec bool // whether everything except metadata and status is the same, and whether spec is
				all        bool
			}{
				{"metadata", of("a", "n", "p"), of("b", "n", "p"), true, true, true},
				{"status", of("a", "n", "p"), of("a", "n", "q"), true, true, false},
				{"spec", of("a", "n", "p"), of("a", "m", "p"), false, false, false},
			} {
				before := c.a.DeepCopyObject()
				if sameBody(c.a, c.b, true) != c.same || sameBody(c.a, c.b, false) != c.all || samePart(c.a, c.b, "Spec") != c.spec {
					t.Errorf("%s: they are compared in another way", c.what)
				}
				if d := cmp.Diff(before, c.a); d != "" {
					t.Errorf("%s: the comparison changes the object: %s", c.what, d)
				}
			}
			a, b := of("a", "n", "p"), of("a", "m", "q")
			if keepPart(a, b, "Spec"); !samePart(a, b, "Spec") || samePart(a, b, "Status") {
				t.Error("Keep keeps another part")
			}
			setPart(a, "Status", nil)
			setPart(b, "Status", nil)
			if !sameBody(a, b, false) {
				t.Error("Set does not remove a part")
			}
		})
	}
}
