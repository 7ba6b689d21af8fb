package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission"
)

func TestNodeTaint(t *testing.T) {
	notReady := corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: "NoSchedule"}
	other, valued := corev1.Taint{Key: "a", Effect: "NoSchedule"}, notReady
	valued.Value = "x"
	for _, test := range []struct {
		name   string
		taints []corev1.Taint
		attrs  admission.Attributes
		want   []corev1.Taint
	}{
		{"new", nil, admission.Attributes{Operation: admission.Create}, []corev1.Taint{notReady}},
		{"with others", []corev1.Taint{other}, admission.Attributes{Operation: admission.Create}, []corev1.Taint{other, notReady}},
		{"with its own", []corev1.Taint{valued}, admission.Attributes{Operation: admission.Create}, []corev1.Taint{valued}},
		{"updated", nil, admission.Attributes{Operation: admission.Update}, nil},
		{"its status", nil, admission.Attributes{Operation: admission.Create, Subresource: "status"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &corev1.Node{Spec: corev1.NodeSpec{Taints: test.taints}}
			test.attrs.Object = n
			if err := (admission.NodeTaint{}).Admit(t.Context(), &test.attrs); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, n.Spec.Taints); d != "" {
				t.Error(d)
			}
		})
	}
	for _, o := range []runtime.Object{&corev1.Pod{}, nil} {
		if err := (admission.NodeTaint{}).Admit(t.Context(), &admission.Attributes{Operation: admission.Create, Object: o}); err != nil {
			t.Errorf("%T: %v", o, err)
		}
	}
}
