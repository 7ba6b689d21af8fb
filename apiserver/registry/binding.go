package registry

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// BindingKind is the kind of the subresource pods/binding.
var BindingKind = corev1.SchemeGroupVersion.WithKind("Binding")

// Bind checks a Binding and writes the node into its pod (K pkg/registry/core/pod/storage: BindingREST).
// a is what plugins are told that was asked for.
func (s *Registry) Bind(ctx context.Context, o *Operation, a *admission.Attributes, b *corev1.Binding) error {
	if err := s.Admission.Admit(ctx, a); err != nil {
		return err
	}
	switch {
	case b.Name != o.Name:
		return status.BadRequest("name in URL does not match name in Binding object")
	case b.Name == "":
		return status.BadRequest("Name parameter required.")
	}
	if errs := validateBinding(b); len(errs) > 0 {
		return errs.ToAggregate() // 0-10
	}
	if err := s.Admission.Validate(ctx, a); err != nil {
		return err
	}
	o.Tracked, o.bare = true, true // upstream writes behind the backs of field manager and strategy
	_, err := s.Update(ctx, o, func(old Object) (Object, error) {
		pod := old.(*corev1.Pod)
		switch {
		case b.UID != "" && b.UID != pod.UID:
			return nil, o.UidPrecondition(s.Root, b, pod.UID)
		case b.ResourceVersion != "" && b.ResourceVersion != pod.ResourceVersion:
			return nil, o.precondition(s.Root, "ResourceVersion", b.ResourceVersion, pod.ResourceVersion)
		case pod.DeletionTimestamp != nil:
			return nil, notBound(pod.Name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name))
		case pod.Spec.NodeName != "":
			return nil, notBound(pod.Name, fmt.Errorf("pod %v is already assigned to node %q", pod.Name, pod.Spec.NodeName))
		case len(pod.Spec.SchedulingGates) > 0:
			return nil, notBound(pod.Name, fmt.Errorf("pod %v has non-empty .spec.schedulingGates", pod.Name))
		}
		assign(pod, b, metav1.Time{Time: s.Now()})
		return pod, nil
	})
	return err
}

func notBound(name string, err error) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, name, err)
}

func validateBinding(b *corev1.Binding) (errs field.ErrorList) {
	if k := b.Target.Kind; k != "" && k != "Node" {
		errs = append(errs, field.NotSupported(field.NewPath("target", "kind"), k, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		errs = append(errs, field.Required(field.NewPath("target", "name"), ""))
	}
	return errs
}

// assign sets the node, carries the binding's annotations and labels over and says that the pod is
// scheduled (BindingREST.setPodNodeAndMetadata). The generation stays.
func assign(pod *corev1.Pod, b *corev1.Binding, now metav1.Time) {
	pod.Spec.NodeName, pod.Status.NominatedNodeName = b.Target.Name, ""
	pod.Annotations = joined(pod.Annotations, b.Annotations)
	pod.Labels = joined(pod.Labels, b.Labels)
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != corev1.PodScheduled {
			continue
		}
		if c.Status != corev1.ConditionTrue {
			c.LastTransitionTime = now
		}
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, "", ""
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now})
}

// joined returns m with more in it.
func joined(m, more map[string]string) map[string]string {
	if len(more) > 0 && m == nil {
		m = map[string]string{}
	}
	maps.Copy(m, more)
	return m
}
