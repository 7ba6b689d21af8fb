package admission

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// PodSecurity enforces the Pod Security Standard in the labels of a namespace (PSA admission/admission.go). Pods that
// violate the enforced level are rejected. Pods and pod templates that violate the warn level cause warnings. If the
// enforced level becomes stricter, existing pods that violate it cause warnings. Violations of the audit level are
// annotations in the audit log. There are no exemptions. A namespace without labels allows everything.
type PodSecurity struct {
	// Labels returns a namespace's labels, and reports whether it exists. Callers must not change the labels.
	Labels func(ctx context.Context, namespace string) (map[string]string, bool, error)
	// Pods returns the pods of a namespace.
	Pods func(ctx context.Context, namespace string) ([]StoredPod, error)
	// Now returns the time. It limits the check of a namespace's existing pods.
	Now func() time.Time
}

// permissive returns the policy of a namespace without labels, which allows everything.
var permissive = func() api.Policy {
	all := api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
	return api.Policy{Enforce: all, Audit: all, Warn: all}
}()

// standards returns the checks of all levels and versions.
var standards = sync.OnceValue(func() policy.Evaluator {
	e, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(fmt.Sprintf("the checks of the pod security library are invalid: %v", err))
	}
	return e
})

// Validate implements Validator.
func (p *PodSecurity) Validate(ctx context.Context, a *Attributes) error {
	if a.Operation != Create && a.Operation != Update {
		return nil
	}
	switch o := a.Object.(type) {
	case *corev1.Pod:
		return p.pod(ctx, a, o)
	case *corev1.Namespace:
		return p.namespace(ctx, a, o)
	}
	if t := resources.PodTemplate(a.Object); t != nil && a.Subresource == "" {
		p.template(ctx, a, t)
	}
	return nil
}

// pod validates a pod against the policy of its namespace. Invalid labels enforce the strictest level. They may have
// been set while the plugin was disabled (ValidatePod).
func (p *PodSecurity) pod(ctx context.Context, a *Attributes, pod *corev1.Pod) error {
	if a.Subresource == "status" {
		return nil
	}
	labels, found, err := p.Labels(ctx, a.Namespace)
	switch {
	case err != nil:
		return &LookupError{What: "looking up namespace " + a.Namespace, Err: err}
	case !found: // possible only if the plugin NamespaceLifecycle is disabled
		return apierrors.NewInternalError(fmt.Errorf("failed to lookup namespace %q", a.Namespace))
	}
	want, errs := api.PolicyToEvaluate(labels, permissive)
	if want.FullyPrivileged() {
		annotateEnforced(a, want)
		return nil
	}
	if old, ok := a.Old.(*corev1.Pod); ok && !significant(pod, old) {
		return nil
	}
	annotateEnforced(a, want)
	annotate(a, want, errs, &pod.ObjectMeta, &pod.Spec)
	if r := evaluate(want.Enforce, &pod.ObjectMeta, &pod.Spec); !r.Allowed {
		return Forbidden(a, fmt.Errorf("violates PodSecurity %q: %s", want.Enforce.String(), r.ForbiddenDetail()))
	}
	if want.Warn != want.Enforce {
		warnOf(a, want.Warn, &pod.ObjectMeta, &pod.Spec)
	}
	return nil
}

// template warns of violations by the pods of a template. It never rejects a template, even if it can't look up the
// policy: the template's pods are rejected when they are created (ValidatePodController).
func (p *PodSecurity) template(ctx context.Context, a *Attributes, t *corev1.PodTemplateSpec) {
	labels, found, err := p.Labels(ctx, a.Namespace)
	if err != nil || !found {
		a.Audit.Annotate(
			api.AuditAnnotationPrefix+"error", fmt.Sprintf("failed to lookup namespace %q: %v", a.Namespace, err),
		)
		return
	}
	want, errs := api.PolicyToEvaluate(labels, permissive)
	annotate(a, want, errs, &t.ObjectMeta, &t.Spec)
	warnOf(a, want.Warn, &t.ObjectMeta, &t.Spec)
}

// namespace rejects invalid labels, unless the labels before an update had the same errors. It checks the existing pods
// if an update makes the enforced level stricter, or changes its version (ValidateNamespace).
func (p *PodSecurity) namespace(ctx context.Context, a *Attributes, ns *corev1.Namespace) error {
	if a.Subresource != "" {
		return nil
	}
	want, errs := api.PolicyToEvaluate(ns.Labels, permissive)
	old, isUpdate := a.Old.(*corev1.Namespace)
	var was api.Policy
	var were field.ErrorList
	if isUpdate {
		was, were = api.PolicyToEvaluate(old.Labels, permissive)
	}
	if !slices.EqualFunc(errs, were, func(a, b *field.Error) bool { return a.Error() == b.Error() }) && len(errs) > 0 {
		return invalid.New(schema.GroupKind{Kind: "Namespace"}, a.Name, errs)
	}
	relaxed := want.Enforce.Version == was.Enforce.Version && api.CompareLevels(want.Enforce.Level, was.Enforce.Level) < 1
	if !isUpdate || want.Enforce.Level == api.LevelPrivileged || relaxed {
		return nil
	}
	for _, text := range p.existing(ctx, ns.Name, want.Enforce) {
		a.Warn(text)
	}
	return nil
}

// evaluate checks a pod against a level.
func evaluate(by api.LevelVersion, m *metav1.ObjectMeta, spec *corev1.PodSpec) policy.AggregateCheckResult {
	if by.Level == api.LevelPrivileged {
		return policy.AggregateCheckResult{Allowed: true}
	}
	return policy.AggregateCheckResults(standards().EvaluatePod(by, m, spec))
}

// annotateEnforced records the enforced level in the audit log (N-30).
func annotateEnforced(a *Attributes, p api.Policy) {
	if a.Audit != nil {
		a.Audit.Annotate(api.AuditAnnotationPrefix+api.EnforcedPolicyAnnotationKey, p.Enforce.String())
	}
}

// annotate records invalid labels of the namespace and violations of the audit level in the audit log (EvaluatePod).
func annotate(a *Attributes, p api.Policy, errs field.ErrorList, m *metav1.ObjectMeta, spec *corev1.PodSpec) {
	if a.Audit == nil {
		return // there is no record
	}
	if len(errs) > 0 {
		a.Audit.Annotate(api.AuditAnnotationPrefix+"error", fmt.Sprintf("Failed to parse policy: %v", errs.ToAggregate()))
	}
	if r := evaluate(p.Audit, m, spec); !r.Allowed {
		a.Audit.Annotate(api.AuditAnnotationPrefix+api.AuditViolationsAnnotationKey,
			fmt.Sprintf("would violate PodSecurity %q: %s", p.Audit.String(), r.ForbiddenDetail()))
	}
}

func warnOf(a *Attributes, by api.LevelVersion, m *metav1.ObjectMeta, spec *corev1.PodSpec) {
	if r := evaluate(by, m, spec); !r.Allowed {
		a.Warn(fmt.Sprintf("would violate PodSecurity %q: %s", by.String(), r.ForbiddenDetail()))
	}
}

// significant reports whether an update may cause a new violation: it adds or changes an image or a container
// (isSignificantPodUpdate).
func significant(pod, old *corev1.Pod) bool {
	image := func(a, b corev1.Container) bool { return a.Image == b.Image }
	if !slices.EqualFunc(pod.Spec.Containers, old.Spec.Containers, image) ||
		!slices.EqualFunc(pod.Spec.InitContainers, old.Spec.InitContainers, image) {
		return true
	}
	return slices.ContainsFunc(pod.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool {
		i := slices.IndexFunc(old.Spec.EphemeralContainers, func(o corev1.EphemeralContainer) bool {
			return o.Name == c.Name
		})
		return i < 0 || old.Spec.EphemeralContainers[i].Image != c.Image
	})
}
