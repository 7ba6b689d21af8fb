package fieldmanager

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

func configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default", Labels: map[string]string{"app": "x"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "1-2-3"}}},
		Data: map[string]string{"a": "1", "b": "2"},
	}
}

func pod(t testing.TB) *corev1.Pod {
	p := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default",
			Labels:          map[string]string{"app": "x", "pod-template-hash": "5"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "o", UID: "1-2-3"}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx",
			Ports: []corev1.ContainerPort{{ContainerPort: 80}}, Env: []corev1.EnvVar{{Name: "A", Value: "b"}}}}},
	}
	table.Kind(p.GroupVersionKind()).Strategy.Default(p)
	return p
}

var table = resources.NewTable(resources.Builtin()...)

func BenchmarkCreate(b *testing.B) {
	for name, obj := range map[string]object{"ConfigMap": configMap(), "Pod": pod(b)} {
		b.Run(name, func(b *testing.B) {
			m := New(Config{Types: table})
			res := table.Kind(obj.GetObjectKind().GroupVersionKind())
			b.ReportAllocs()
			for b.Loop() {
				obj.SetManagedFields(nil)
				m.Update(res, "", nil, obj, "test")
			}
		})
	}
}

func BenchmarkUpdate(b *testing.B) {
	for name, obj := range map[string]object{"ConfigMap": configMap(), "Pod": pod(b)} {
		b.Run(name, func(b *testing.B) {
			m := New(Config{Types: table})
			res := table.Kind(obj.GetObjectKind().GroupVersionKind())
			m.Update(res, "", nil, obj, "test")
			obj.SetUID("1")
			next := obj.DeepCopyObject().(object)
			next.SetLabels(map[string]string{"app": "y"})
			b.ReportAllocs()
			for b.Loop() {
				next.SetManagedFields(obj.GetManagedFields())
				m.Update(res, "", obj, next, "other")
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	m := New(Config{Types: table})
	res := table.Kind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	document := []byte(
		`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1", "y": "1"}}`,
	)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Apply(res, "", nil, document, "test", false, "Strict", nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirst is what a server pays for the first write of a kind.
func BenchmarkFirst(b *testing.B) {
	for name, obj := range map[string]object{"ConfigMap": configMap(), "Pod": pod(b)} {
		b.Run(name, func(b *testing.B) {
			res := table.Kind(obj.GetObjectKind().GroupVersionKind())
			b.ReportAllocs()
			for b.Loop() {
				obj.SetManagedFields(nil)
				New(Config{Types: table}).Update(res, "", nil, obj, "test")
			}
		})
	}
}

// BenchmarkUpdateStatus is what a kubelet does.
func BenchmarkUpdateStatus(b *testing.B) {
	m, obj := New(Config{Types: table}), pod(b)
	res := table.Kind(obj.GroupVersionKind())
	m.Update(res, "", nil, obj, "creator")
	obj.SetUID("1")
	next := obj.DeepCopy()
	next.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.1",
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	b.ReportAllocs()
	for b.Loop() {
		next.SetManagedFields(obj.GetManagedFields())
		m.Update(res, "status", obj, next, "kubelet")
	}
}
