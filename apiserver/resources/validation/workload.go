package validation

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// Not checked: scale subresources, which are objects of autoscaling/v1; rollbacks, which have no path.

var templatePath = specPath.Child("template")

// podSelector judges a selector that must be there and select something (apps ValidateReplicaSetSpec
// and its likes), and returns it if it can be used.
func podSelector(s *metav1.LabelSelector, unusable, empty string) (labels.Selector, field.ErrorList) {
	at := specPath.Child("selector")
	var errs field.ErrorList
	if s == nil {
		errs = given(specPath, "selector", "")
	} else {
		errs = selects(s, false, at)
		if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
			errs = append(errs, field.Invalid(at, s, empty))
		}
	}
	usable, err := invalid.AsSelector(s)
	if err != nil {
		return nil, append(errs, field.Invalid(at, s, unusable))
	}
	return usable, errs
}

// replicas judges the template of pods that replace each other. Nothing is matched without a
// selector, so that a missing one makes the template fail too.
func replicas(s labels.Selector, t, old *corev1.PodTemplateSpec) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	if !s.Empty() {
		errs = matched(s, t, templatePath)
	}
	errs = append(errs, template(t, old, templatePath)...)
	return append(errs, lasting(t, "ReplicaSet", templatePath)...)
}

func replicaSet(r *appsv1.ReplicaSet) field.ErrorList { return replicaSetSpec(&r.Spec, nil) }

func replicaSetSpec(s *appsv1.ReplicaSetSpec, old *corev1.PodTemplateSpec) field.ErrorList {
	errs := naturals(specPath, "replicas", s.Replicas)
	errs = append(errs, natural(s.MinReadySeconds, specPath.Child("minReadySeconds"))...)
	// Upstream names the wrong kind.
	usable, faults := podSelector(s.Selector, "invalid label selector", "empty selector is invalid for deployment")
	errs = append(errs, faults...)
	return append(errs, replicas(usable, &s.Template, old)...)
}

func replicaSetUpdate(r, old *appsv1.ReplicaSet) field.ErrorList {
	return append(replicaSetSpec(&r.Spec, &old.Spec.Template), sameSelector(r.Spec.Selector, old.Spec.Selector)...)
}

func sameSelector(now, was *metav1.LabelSelector) field.ErrorList {
	return apivalidation.ValidateImmutableField(now, was, specPath.Child("selector"))
}

// count is a number of a status by its name.
type count struct {
	name string
	n    int32
}

// counts wants numbers of zero or more, of which none of those in most exceeds all.
func counts(all int32, list, most []count) (errs field.ErrorList) {
	for _, c := range invalid.Each(list, &errs) {
		errs = append(errs, natural(c.n, statusPath.Child(c.name))...)
	}
	for _, c := range invalid.Each(most, &errs) {
		if c.n > all {
			errs = append(errs, field.Invalid(statusPath.Child(c.name), c.n, "cannot be greater than status.replicas"))
		}
	}
	return errs
}

// availableReady wants available pods to be ready ones.
func availableReady(available, ready int32, text string) field.ErrorList {
	if available <= ready {
		return nil
	}
	return field.ErrorList{field.Invalid(statusPath.Child("availableReplicas"), available, text)}
}

func replicaSetStatus(r, _ *appsv1.ReplicaSet) field.ErrorList {
	s := &r.Status
	return setStatus(s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.TerminatingReplicas, s.ObservedGeneration)
}

func setStatus(all, labeled, ready, available int32, terminating *int32, generation int64) field.ErrorList {
	parts := []count{{"fullyLabeledReplicas", labeled}, {"readyReplicas", ready}, {"availableReplicas", available}}
	errs := counts(all, append([]count{{"replicas", all}}, parts...), nil)
	errs = append(errs, naturals(statusPath, "terminatingReplicas", terminating)...)
	errs = append(errs, natural(generation, statusPath.Child("observedGeneration"))...)
	errs = append(errs, counts(all, nil, parts)...)
	return append(errs, availableReady(available, ready, "cannot be greater than readyReplicas")...)
}

func replicationController(c *corev1.ReplicationController) field.ErrorList {
	return replicationControllerSpec(&c.Spec, nil)
}

func replicationControllerSpec(s *corev1.ReplicationControllerSpec, old *corev1.PodTemplateSpec) field.ErrorList {
	errs := natural(s.MinReadySeconds, specPath.Child("minReadySeconds"))
	if len(s.Selector) == 0 {
		errs = append(errs, given(specPath, "selector", "")...)
	}
	errs = append(errs, naturals(specPath, "replicas", s.Replicas)...)
	if s.Template == nil {
		return append(errs, given(specPath, "template", "")...)
	}
	if len(s.Selector) != 0 {
		errs = append(errs, matched(labels.Set(s.Selector).AsSelector(), s.Template, templatePath)...)
	}
	errs = append(errs, template(s.Template, old, templatePath)...)
	return append(errs, lasting(s.Template, "ReplicationController", templatePath)...)
}

func replicationControllerUpdate(c, old *corev1.ReplicationController) field.ErrorList {
	return replicationControllerSpec(&c.Spec, old.Spec.Template)
}

func replicationControllerStatus(c, _ *corev1.ReplicationController) field.ErrorList {
	s := &c.Status
	return setStatus(s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, nil, s.ObservedGeneration)
}

func deployment(d *appsv1.Deployment) field.ErrorList { return deploymentSpec(&d.Spec, nil) }

func deploymentSpec(s *appsv1.DeploymentSpec, old *corev1.PodTemplateSpec) field.ErrorList {
	errs := naturals(specPath, "replicas", s.Replicas)
	usable, faults := podSelector(s.Selector, "invalid label selector", "empty selector is invalid for deployment")
	errs = append(errs, faults...)
	errs = append(errs, replicas(usable, &s.Template, old)...)
	errs = append(errs, deploymentStrategy(&s.Strategy, specPath.Child("strategy"))...)
	errs = append(errs, natural(s.MinReadySeconds, specPath.Child("minReadySeconds"))...)
	errs = append(errs, naturals(specPath, "revisionHistoryLimit", s.RevisionHistoryLimit)...)
	errs = append(errs, naturals(specPath, "progressDeadlineSeconds", s.ProgressDeadlineSeconds)...)
	if d := s.ProgressDeadlineSeconds; d != nil && *d <= s.MinReadySeconds {
		errs = append(errs, field.Invalid(specPath.Child("progressDeadlineSeconds"), d, "must be greater than minReadySeconds"))
	}
	return errs
}

func deploymentUpdate(d, old *appsv1.Deployment) field.ErrorList {
	return append(deploymentSpec(&d.Spec, &old.Spec.Template), sameSelector(d.Spec.Selector, old.Spec.Selector)...)
}

func deploymentStrategy(s *appsv1.DeploymentStrategy, at *field.Path) (errs field.ErrorList) {
	rolling := at.Child("rollingUpdate")
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.RollingUpdate != nil {
			errs = append(errs, field.Forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'"))
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		if s.RollingUpdate == nil {
			return field.ErrorList{field.Required(rolling, "this should be defaulted and never be nil")}
		}
		down, up := share(s.RollingUpdate.MaxUnavailable), share(s.RollingUpdate.MaxSurge)
		errs = append(errs, intOrPercent(down, rolling.Child("maxUnavailable"))...)
		errs = append(errs, intOrPercent(up, rolling.Child("maxSurge"))...)
		if sizeOf(down) == 0 && sizeOf(up) == 0 {
			errs = append(errs, field.Invalid(rolling.Child("maxUnavailable"), down, "may not be 0 when `maxSurge` is 0"))
		}
		errs = append(errs, atMostWhole(down, rolling.Child("maxUnavailable"))...)
	default:
		errs = append(errs, field.NotSupported(at, internal(*s),
			[]appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}))
	}
	return errs
}

// share reads a number or percentage that may be left out.
func share(v *intstr.IntOrString) intstr.IntOrString {
	if v == nil {
		return intstr.IntOrString{}
	}
	return *v
}

func sizeOf(v intstr.IntOrString) int {
	if n, ok := percentOf(v); ok {
		return n
	}
	return v.IntValue()
}

func deploymentStatus(d, old *appsv1.Deployment) field.ErrorList {
	s := &d.Status
	errs := natural(s.ObservedGeneration, statusPath.Child("observedGeneration"))
	parts := []count{{"updatedReplicas", s.UpdatedReplicas}, {"readyReplicas", s.ReadyReplicas}, {"availableReplicas", s.AvailableReplicas}}
	errs = append(errs, counts(0, append([]count{{"replicas", s.Replicas}}, append(parts, count{"unavailableReplicas", s.UnavailableReplicas})...), nil)...)
	errs = append(errs, naturals(statusPath, "terminatingReplicas", s.TerminatingReplicas)...)
	errs = append(errs, naturals(statusPath, "collisionCount", s.CollisionCount)...)
	errs = append(errs, counts(s.Replicas, nil, parts)...)
	errs = append(errs, availableReady(s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas")...)
	return append(errs, collisions(s.CollisionCount, old.Status.CollisionCount)...)
}

// collisions only ever grow.
func collisions(now, was *int32) field.ErrorList {
	if was == nil || now != nil && *now >= *was {
		return nil
	}
	var n int32
	if now != nil {
		n = *now
	}
	return field.ErrorList{field.Invalid(statusPath.Child("collisionCount"), n, "cannot be decremented")}
}
