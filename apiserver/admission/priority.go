package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/utils/ptr"
)

// Priority sets a pod's priority and preemption policy from its class, from the default class, or to zero (K
// plugin/pkg/admission/priority). Pods can't set these themselves. Priority also ensures that there is at most one
// default class.
type Priority struct {
	// Classes returns all priority classes.
	Classes func(ctx context.Context) ([]*schedulingv1.PriorityClass, error)
}

// Admit implements Mutator.
func (p *Priority) Admit(ctx context.Context, a *Attributes) error {
	pod, ok := a.Object.(*corev1.Pod)
	if !ok || a.Subresource != "" {
		return nil
	}
	if a.Operation == Update {
		keepPriority(pod, a.Old.(*corev1.Pod))
		return nil
	}
	if a.Operation != Create {
		return nil
	}
	classes, err := p.Classes(ctx)
	if err != nil {
		return &LookupError{What: "listing priority classes", Err: err}
	}
	class, err := classOf(pod.Spec.PriorityClassName, classes)
	if err != nil {
		return err
	}
	pod.Spec.PriorityClassName = class.Name
	if pod.Spec.Priority != nil && *pod.Spec.Priority != class.Value {
		return fmt.Errorf(
			"the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name",
			*pod.Spec.Priority, class.Value,
		)
	}
	value, policy := class.Value, ptr.Deref(class.PreemptionPolicy, corev1.PreemptLowerPriority)
	if own := pod.Spec.PreemptionPolicy; own != nil && *own != policy {
		return fmt.Errorf(
			"the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name",
			*own, policy,
		)
	}
	pod.Spec.Priority, pod.Spec.PreemptionPolicy = &value, &policy
	return nil
}

// Validate implements Validator. Only one class can be the default (validatePriorityClass).
func (p *Priority) Validate(ctx context.Context, a *Attributes) error {
	class, ok := a.Object.(*schedulingv1.PriorityClass)
	if !ok || a.Subresource != "" || !class.GlobalDefault || a.Operation != Create && a.Operation != Update {
		return nil
	}
	classes, err := p.Classes(ctx)
	if err != nil {
		return &LookupError{What: "listing priority classes", Err: err}
	}
	was, err := classOf("", classes)
	if err != nil || was.Name == "" || a.Operation == Update && was.Name == class.Name {
		return err
	}
	return fmt.Errorf("PriorityClass %v is already marked as default. Only one default can exist", was.Name)
}

// keepPriority restores the priority and the preemption policy if an update omits them.
func keepPriority(pod, old *corev1.Pod) {
	pod.Spec.Priority = cmp.Or(pod.Spec.Priority, old.Spec.Priority)
	pod.Spec.PreemptionPolicy = cmp.Or(pod.Spec.PreemptionPolicy, old.Spec.PreemptionPolicy)
}

var errNoClass = errors.New("no PriorityClass with name")

// classOf returns a class by its name. Without a name it returns the default class and, if there are several, the one
// with the lowest value. If there is none, it returns an unnamed class of value zero.
func classOf(name string, classes []*schedulingv1.PriorityClass) (*schedulingv1.PriorityClass, error) {
	found := &schedulingv1.PriorityClass{}
	for _, c := range classes {
		switch {
		case name != "" && c.Name == name:
			return c, nil
		case name == "" && c.GlobalDefault && (found.Name == "" || c.Value < found.Value):
			found = c
		}
	}
	if name != "" {
		return nil, fmt.Errorf("%w %v was found", errNoClass, name)
	}
	return found, nil
}
