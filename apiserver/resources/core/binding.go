package core

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func bindings() *entry.Resource {
	return &entry.Resource{
		Plural: "bindings", New: entry.New[corev1.Binding], Namespaced: true,
		Served:  entry.Served{Verbs: entry.Post},
		Storage: entry.Storage{Virtual: true},
		Hooks:   entry.Hooks{Create: createBinding},
	}
}

// bindPod handles POST of pods/binding. It validates a Binding and sets the node of its pod (K
// pkg/registry/core/pod/storage: BindingREST).
func bindPod(ctx context.Context, r entry.Request, body runtime.Object) (runtime.Object, error) {
	b := body.(*corev1.Binding)
	if err := r.MatchNamespace(b); err != nil {
		return nil, err
	}
	if err := r.Admit(ctx, b); err != nil {
		return nil, err
	}
	switch {
	case b.Name != r.Name():
		return nil, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	case b.Name == "":
		return nil, apierrors.NewBadRequest("Name parameter required.")
	}
	if errs := validateBinding(b); len(errs) > 0 {
		return nil, errs.ToAggregate() // 0-10
	}
	if err := r.Validate(ctx, b); err != nil {
		return nil, err
	}
	_, err := r.Rewrite(ctx, func(old entry.Object) (entry.Object, error) { // as upstream, without the strategy
		pod := old.(*corev1.Pod)
		if err := bindablePod(r, b, pod); err != nil {
			return nil, err
		}
		assignPod(pod, b, metav1.Time{Time: r.Now()})
		return pod, nil
	})
	return nil, err
}

// createBinding handles POST of bindings, which is a POST of pods/binding with the pod's name in the body.
func createBinding(ctx context.Context, r entry.Request, body runtime.Object) (runtime.Object, error) {
	on, err := r.On(podResource, "binding", body.(*corev1.Binding).Name)
	if err != nil {
		return nil, err
	}
	return bindPod(ctx, on, body)
}

// bindablePod returns an error if the pod can't be bound.
func bindablePod(r entry.Request, b *corev1.Binding, pod *corev1.Pod) error {
	switch {
	case b.UID != "" && b.UID != pod.UID:
		return r.Precondition("UID", b.UID, pod.UID)
	case b.ResourceVersion != "" && b.ResourceVersion != pod.ResourceVersion:
		return r.Precondition("ResourceVersion", b.ResourceVersion, pod.ResourceVersion)
	case pod.DeletionTimestamp != nil:
		return notBound(pod.Name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name))
	case pod.Spec.NodeName != "":
		return notBound(pod.Name, fmt.Errorf("pod %v is already assigned to node %q", pod.Name, pod.Spec.NodeName))
	case len(pod.Spec.SchedulingGates) > 0:
		return notBound(pod.Name, fmt.Errorf("pod %v has non-empty .spec.schedulingGates", pod.Name))
	}
	return nil
}

func notBound(name string, err error) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, name, err)
}

func validateBinding(b *corev1.Binding) (errs field.ErrorList) {
	if k := b.Target.Kind; k != "" && k != "Node" {
		errs = append(errs, field.NotSupported(field.NewPath("target", "kind"), k, []string{"Node", "<empty>"}))
	}
	name := field.NewPath("target", "name")
	if b.Target.Name == "" {
		return append(errs, field.Required(name, ""))
	}
	return append(errs, check.DNSSubdomain(b.Target.Name, name)...) // V-063
}

// assignPod sets the pod's node, copies the binding's annotations and labels, and sets the condition PodScheduled
// (BindingREST.setPodNodeAndMetadata). It does not change the generation.
func assignPod(pod *corev1.Pod, b *corev1.Binding, now metav1.Time) {
	pod.Spec.NodeName, pod.Status.NominatedNodeName = b.Target.Name, ""
	for key, value := range b.Annotations {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
	}
	for key, value := range b.Labels {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, key, value)
	}
	setCondition(pod, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now,
	})
}

// setCondition adds a condition, or replaces the one of its type. The time of a status that does not change stays (K
// pkg/api/v1/pod/util.go: UpdatePodCondition).
func setCondition(pod *corev1.Pod, c corev1.PodCondition) {
	list := pod.Status.Conditions
	i := slices.IndexFunc(list, func(old corev1.PodCondition) bool { return old.Type == c.Type })
	if i < 0 {
		pod.Status.Conditions = append(list, c)
		return
	}
	if list[i].Status == c.Status {
		c.LastTransitionTime = list[i].LastTransitionTime
	}
	list[i] = c
}
