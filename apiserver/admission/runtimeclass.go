package admission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// RuntimeClass sets the overhead, node selector and tolerations of the runtime class in a new pod (K
// plugin/pkg/admission/runtimeclass).
type RuntimeClass struct {
	// Class returns the runtime class, or nil if it does not exist.
	Class func(ctx context.Context, name string) (*nodev1.RuntimeClass, error)
}

var (
	errOverhead      = errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
	errOwnOverhead   = errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	errNoSuchRuntime = errors.New("pod rejected: RuntimeClass")
)

// of returns the pod and its class. Each is nil if there is none.
func (p *RuntimeClass) of(ctx context.Context, a *Attributes) (*corev1.Pod, *nodev1.RuntimeClass, error) {
	pod, ok := a.Object.(*corev1.Pod)
	if !ok || a.Operation != Create || a.Subresource != "" {
		return nil, nil, nil
	}
	if pod.Spec.RuntimeClassName == nil {
		return pod, nil, nil
	}
	class, err := p.Class(ctx, *pod.Spec.RuntimeClassName)
	switch {
	case err != nil:
		return nil, nil, &LookupError{What: "reading runtime class " + *pod.Spec.RuntimeClassName, Err: err}
	case class == nil:
		return nil, nil, fmt.Errorf("%w %q not found", errNoSuchRuntime, *pod.Spec.RuntimeClassName)
	}
	return pod, class, nil
}

// Admit implements Mutator.
func (p *RuntimeClass) Admit(ctx context.Context, a *Attributes) error {
	pod, class, err := p.of(ctx, a)
	if err != nil || class == nil {
		return err
	}
	if class.Overhead != nil {
		if pod.Spec.Overhead != nil && !apiequality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead) {
			return errOverhead
		}
		pod.Spec.Overhead = class.Overhead.PodFixed
	}
	if class.Scheduling == nil {
		return nil
	}
	if pod.Spec.NodeSelector, err = united(pod.Spec.NodeSelector, class.Scheduling.NodeSelector); err != nil {
		return err
	}
	pod.Spec.Tolerations = widest(slices.Concat(pod.Spec.Tolerations, class.Scheduling.Tolerations))
	return nil
}

// Validate implements Validator.
func (p *RuntimeClass) Validate(ctx context.Context, a *Attributes) error {
	pod, class, err := p.of(ctx, a)
	switch {
	case err != nil || pod == nil:
		return err
	case class != nil && class.Overhead != nil:
		if !apiequality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead) {
			return errOverhead
		}
	case pod.Spec.Overhead != nil:
		return errOwnOverhead
	}
	return nil
}

// united returns the labels of both selectors, or an error if they conflict.
func united(pod, class map[string]string) (map[string]string, error) {
	if pod == nil {
		return class, nil
	}
	for _, key := range slices.Sorted(maps.Keys(class)) {
		if have, ok := pod[key]; ok && have != class[key] {
			return nil, fmt.Errorf(
				"conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, class[key], key,
				have,
			)
		}
		pod[key] = class[key]
	}
	return pod, nil
}

// widest removes tolerations that another one covers. Of equal ones it keeps the first (K pkg/util/tolerations:
// MergeTolerations).
func widest(all []corev1.Toleration) (out []corev1.Toleration) {
	for i, t := range all {
		covered := slices.ContainsFunc(out, func(o corev1.Toleration) bool { return covers(o, t) }) ||
			slices.ContainsFunc(all[i+1:], func(o corev1.Toleration) bool {
				return !apiequality.Semantic.DeepEqual(o, t) && covers(o, t)
			})
		if !covered {
			out = append(out, t)
		}
	}
	return out
}

// covers reports whether a tolerates everything that b tolerates.
func covers(a, b corev1.Toleration) bool {
	everyKey := a.Key == "" && a.Operator == corev1.TolerationOpExists
	switch {
	case apiequality.Semantic.DeepEqual(a, b):
		return true
	case a.Key != b.Key && !everyKey, a.Effect != "" && a.Effect != b.Effect:
		return false
	case a.Effect == corev1.TaintEffectNoExecute && a.TolerationSeconds != nil &&
		(b.TolerationSeconds == nil || *b.TolerationSeconds > *a.TolerationSeconds):
		return false
	}
	return a.Operator == corev1.TolerationOpExists || isEqual(a) && isEqual(b) && a.Value == b.Value
}

func isEqual(t corev1.Toleration) bool {
	return t.Operator == "" || t.Operator == corev1.TolerationOpEqual
}
