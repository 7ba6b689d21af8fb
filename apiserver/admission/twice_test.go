package admission_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// shelf is a Lookup with a few objects.
type shelf struct {
	admission.Lookup
	objects map[string][]runtime.Object
}

func (s *shelf) Now() time.Time { return time.Unix(0, 0) }

func (s *shelf) NamespaceState(context.Context, string) (admission.NamespaceState, error) {
	return admission.NamespaceActive, nil
}

func (s *shelf) Any(schema.GroupVersionResource, string) (bool, error) { return true, nil }

func (s *shelf) Each(_ context.Context, r schema.GroupVersionResource, _ string, yield func(runtime.Object)) error {
	for _, obj := range s.objects[r.Resource] {
		yield(obj.DeepCopyObject())
	}
	return nil
}

func (s *shelf) Get(_ context.Context, r schema.GroupVersionResource, _, name string, _ time.Duration) (
	runtime.Object, error) {
	for _, obj := range s.objects[r.Resource] {
		if obj.(metav1.Object).GetName() == name {
			return obj.DeepCopyObject(), nil
		}
	}
	return nil, nil
}

func stocked() *shelf {
	list := func(cpu string) corev1.ResourceList { return corev1.ResourceList{"cpu": resource.MustParse(cpu)} }
	named := func(name, annotation string) metav1.ObjectMeta {
		m := metav1.ObjectMeta{Name: name}
		if annotation != "" {
			m.Annotations = map[string]string{annotation: "true"}
		}
		return m
	}
	return &shelf{objects: map[string][]runtime.Object{
		"limitranges": {&corev1.LimitRange{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypeContainer, Default: list("2"), DefaultRequest: list("1")},
		}}}},
		"serviceaccounts": {&corev1.ServiceAccount{
			ObjectMeta: named("default", ""), ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
		}},
		"priorityclasses": {&schedulingv1.PriorityClass{ObjectMeta: named("usual", ""), Value: 7, GlobalDefault: true}},
		"storageclasses": {
			&storagev1.StorageClass{ObjectMeta: named("s", "storageclass.kubernetes.io/is-default-class")},
		},
		"ingressclasses": {
			&networkingv1.IngressClass{ObjectMeta: named("i", networkingv1.AnnotationIsDefaultIngressClass)},
		},
		"runtimeclasses": {&nodev1.RuntimeClass{
			ObjectMeta: named("r", ""), Overhead: &nodev1.Overhead{PodFixed: list("1m")},
			Scheduling: &nodev1.Scheduling{
				NodeSelector: map[string]string{"a": "b"},
				Tolerations:  []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}},
			},
		}},
	}}
}

func newPod() runtime.Object {
	class := "r"
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		RuntimeClassName: &class, NodeSelector: map[string]string{"c": "d"},
		InitContainers: []corev1.Container{{Name: "i"}}, Containers: []corev1.Container{{Name: "c"}, {Name: "d"}},
	}}
}

// TestSecondRunChangesNothing: the mutating plugins may run twice for a request. The second run of each plugin, and of
// all plugins together, changes nothing (L-53).
func TestSecondRunChangesNothing(t *testing.T) {
	objects := map[string]runtime.Object{
		"LimitRanger": newPod(), "ServiceAccount": newPod(), "Priority": newPod(), "RuntimeClass": newPod(),
		"DefaultTolerationSeconds": newPod(), "TaintNodesByCondition": &corev1.Node{},
		"DefaultStorageClass":          &corev1.PersistentVolumeClaim{},
		"StorageObjectInUseProtection": &corev1.PersistentVolume{}, "DefaultIngressClass": &networkingv1.Ingress{},
		"NamespaceLifecycle": nil, // it changes nothing
	}
	l := stocked()
	var chain admission.Chain
	for _, c := range admission.All(l) {
		chain = append(chain, c)
		if _, ok := c.Plugin.(admission.Mutator); !ok {
			continue
		}
		obj, ok := objects[c.Name]
		if !ok {
			t.Errorf("%s is not tested", c.Name)
		}
		if obj != nil {
			twice(t, c.Name, admission.Chain{c}, obj)
		}
	}
	for _, obj := range []runtime.Object{
		newPod(), &corev1.Node{}, &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolume{},
	} {
		twice(t, fmt.Sprintf("all for a %T", obj), chain, obj)
	}
}

func twice(t *testing.T, name string, chain admission.Chain, obj runtime.Object) {
	t.Helper()
	a := &admission.Attributes{Operation: admission.Create, Namespace: "n", Name: "p", Object: obj,
		Resource: &resources.Resource{Plural: "objects"}}
	steps, before := admission.Steps{Chain: chain}, obj.DeepCopyObject()
	if err := steps.Admit(t.Context(), a); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	once := obj.DeepCopyObject()
	if apiequality.Semantic.DeepEqual(before, once) {
		t.Errorf("%s changes nothing", name)
	}
	if err := steps.Admit(t.Context(), a); err != nil {
		t.Errorf("%s, again: %v", name, err)
	}
	if diff := cmp.Diff(once, obj); diff != "" {
		t.Errorf("%s, again: (-once +twice)\n%s", name, diff)
	}
}
