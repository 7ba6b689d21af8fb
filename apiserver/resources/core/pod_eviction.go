package core

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

var (
	disruptionBudgets = policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")
	// budgets is the resource of PodDisruptionBudgets in errors.
	budgets = schema.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}
)

// maxDisrupted is the maximum number of unconfirmed evictions in a budget.
const maxDisrupted = 2000

// evictPod handles POST of pods/eviction. It deletes the pod, unless a disruption budget does not allow it (C-69; K
// pkg/registry/core/pod/storage/eviction.go).
func evictPod(ctx context.Context, r entry.Request, body runtime.Object) (runtime.Object, error) {
	e := body.(*policyv1.Eviction)
	if err := r.MatchNamespace(e); err != nil {
		return nil, err
	}
	if err := r.Admit(ctx, e); err != nil { // admission may change the options
		return nil, err
	}
	if e.Name != r.Name() {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	opts, err := joinedOptions(e.DeleteOptions, r.DryRun())
	if err != nil {
		return nil, err
	}
	r.SetDryRun(opts.DryRun)
	if err := r.Validate(ctx, e); err != nil {
		return nil, err
	}
	return nil, evictOnce(ctx, r, opts)
}

// joinedOptions returns the eviction's DeleteOptions with the dryRun of the request.
func joinedOptions(o *metav1.DeleteOptions, dryRun []string) (*metav1.DeleteOptions, error) {
	switch {
	case o == nil:
		return &metav1.DeleteOptions{DryRun: dryRun}, nil
	case len(o.DryRun) == 0:
		o.DryRun = dryRun
	case len(dryRun) > 0 && !reflect.DeepEqual(dryRun, o.DryRun):
		//lint:ignore ST1005 it is what clients see
		return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", dryRun, o.DryRun)
	}
	return o, nil
}

// maxAttempts is the maximum number of attempts at an eviction while the pod changes (eviction.go: EvictionsRetry).
const maxAttempts = 20

// evictOnce deletes the pod if a disruption budget allows it. If the pod changes in the meantime, it tries again.
func evictOnce(ctx context.Context, r entry.Request, opts *metav1.DeleteOptions) error {
	for attempt := 1; ; attempt++ {
		obj, err := r.Current(ctx)
		if err != nil {
			return err
		}
		pod := obj.(*corev1.Pod)
		if err := invalid.Options("DeleteOptions", metav1validation.ValidateDeleteOptions(opts)); err != nil { // C-08
			return err
		}
		once, budget, err := allowEviction(ctx, r, pod, opts)
		if err != nil {
			return err
		}
		err = removePod(ctx, r, once)
		switch ours := once != opts; {
		case err == nil || !ours || !apierrors.IsConflict(err) || otherPod(opts, pod):
			return err
		case budget != "": // the pod may have become ready in the meantime
			return tooManyEvictions(budget)
		case attempt == maxAttempts:
			return err
		}
	}
}

// otherPod reports whether the options have the UID of another pod. Then a retry is useless.
func otherPod(o *metav1.DeleteOptions, pod *corev1.Pod) bool {
	return o.Preconditions != nil && o.Preconditions.UID != nil && *o.Preconditions.UID != pod.UID
}

// allowEviction decides whether the pod may be evicted, and returns the options for the deletion. If the decision
// depends on the pod's state, the returned options require the pod's resourceVersion, and budget is the name of the
// budget. For a pending pod, budget is empty.
func allowEviction(ctx context.Context, r entry.Request, pod *corev1.Pod, opts *metav1.DeleteOptions) (
	once *metav1.DeleteOptions, budget string, err error) {
	free := !anchored(opts)
	switch {
	case pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed, pod.DeletionTimestamp != nil:
		return opts, "", nil // the pod is terminating or finished
	}
	if pod.Status.Phase == corev1.PodPending {
		if free {
			return atRevision(opts, pod.ResourceVersion), "", nil
		}
		return opts, "", nil
	}
	pdbs, err := budgetsOf(ctx, r, pod)
	if err != nil || len(pdbs) == 0 {
		return opts, "", err
	}
	if len(pdbs) > 1 {
		return nil, "", &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, // 500
			Message: "This pod has more than one PodDisruptionBudget, " +
				"which the eviction subresource does not support."}}
	}
	pdb := pdbs[0]
	always := check.ValueOf(pdb.Spec.UnhealthyPodEvictionPolicy) == policyv1.AlwaysAllow
	healthy := pdb.Status.CurrentHealthy >= pdb.Status.DesiredHealthy && pdb.Status.DesiredHealthy > 0
	if !podCondition(pod, corev1.PodReady) && (always || healthy) { // the pod does not count as healthy
		if free {
			return atRevision(opts, pod.ResourceVersion), pdb.Name, nil
		}
		return opts, "", nil
	}
	return opts, "", spend(ctx, r, pdb, pod.Name)
}

// anchored reports whether the options have a resourceVersion as a precondition.
func anchored(o *metav1.DeleteOptions) bool {
	return o.Preconditions != nil && o.Preconditions.ResourceVersion != nil
}

func atRevision(o *metav1.DeleteOptions, revision string) *metav1.DeleteOptions {
	o = o.DeepCopy()
	if o.Preconditions == nil {
		o.Preconditions = &metav1.Preconditions{}
	}
	o.Preconditions.ResourceVersion = &revision
	return o
}

// removePod sets the condition DisruptionTarget of the pod and deletes it. If the options are anchored, the pod must
// not have changed before the first write, nor between the two (addConditionAndDeletePod).
func removePod(ctx context.Context, r entry.Request, opts *metav1.DeleteOptions) error {
	if len(opts.DryRun) == 0 {
		revision, err := r.Rewrite(ctx, func(old entry.Object) (entry.Object, error) {
			pod := old.(*corev1.Pod)
			if err := checkPreconditions(opts.Preconditions, pod); err != nil {
				return nil, err
			}
			markDisrupted(pod, metav1.Time{Time: r.Now()})
			return pod, nil
		})
		if err != nil {
			return err
		}
		if anchored(opts) {
			opts = atRevision(opts, revision)
		}
	}
	return r.Delete(ctx, opts)
}

// checkPreconditions returns the error 409 of a DELETE if a precondition does not hold for the pod (B-09).
func checkPreconditions(p *metav1.Preconditions, pod *corev1.Pod) error {
	conflict := func(what string, want, stored any, hint string) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: "Pod"}, pod.Name, fmt.Errorf(
			"the %s in the precondition (%v) does not match the %[1]s in record (%[3]v). The object might have been %s",
			what, want, stored, hint))
	}
	switch {
	case p == nil:
	case p.UID != nil && *p.UID != "" && *p.UID != pod.UID:
		return conflict("UID", *p.UID, pod.UID, "deleted and then recreated")
	case p.ResourceVersion != nil && *p.ResourceVersion != "" && *p.ResourceVersion != pod.ResourceVersion:
		return conflict("ResourceVersion", *p.ResourceVersion, pod.ResourceVersion, "modified")
	}
	return nil
}

// markDisrupted sets the condition DisruptionTarget. Later evictions do not change its time.
func markDisrupted(pod *corev1.Pod, now metav1.Time) {
	setCondition(pod, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		LastTransitionTime: now, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting"})
}

// budgetsOf returns the budgets in the pod's namespace that select the pod. An invalid selector selects no pod, and an
// empty one all pods.
func budgetsOf(ctx context.Context, r entry.Request, pod *corev1.Pod) (out []*policyv1.PodDisruptionBudget, err error) {
	err = r.List(ctx, disruptionBudgets, pod.Namespace, func(obj entry.Object) {
		pdb := obj.(*policyv1.PodDisruptionBudget)
		sel, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
		if err == nil && sel.Matches(labels.Set(pod.Labels)) {
			out = append(out, pdb)
		}
	})
	return out, err
}

// spend subtracts one from the disruptions that the budget's status allows, and records the pod for the budget's
// controller. It returns an error if the budget allows no disruption.
func spend(ctx context.Context, r entry.Request, pdb *policyv1.PodDisruptionBudget, pod string) error {
	ref := entry.Reference{Resource: disruptionBudgets, Namespace: pdb.Namespace, Name: pdb.Name}
	return r.UpdateStatus(ctx, ref, func(old entry.Object) (entry.Object, error) {
		b := old.(*policyv1.PodDisruptionBudget)
		if err := affordable(b); err != nil {
			return nil, err
		}
		now := metav1.Time{Time: r.Now()}
		if b.Status.DisruptionsAllowed--; b.Status.DisruptionsAllowed == 0 {
			meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{Type: policyv1.DisruptionAllowedCondition,
				Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason,
				ObservedGeneration: b.Status.ObservedGeneration, LastTransitionTime: now})
		}
		if b.Status.DisruptedPods == nil {
			b.Status.DisruptedPods = map[string]metav1.Time{}
		}
		b.Status.DisruptedPods[pod] = now
		return b, nil
	})
}

// affordable returns the reason why a budget allows no further disruption, or nil.
func affordable(b *policyv1.PodDisruptionBudget) error {
	switch st := b.Status; {
	case st.ObservedGeneration < b.Generation:
		return tooManyEvictions(b.Name)
	case st.DisruptionsAllowed < 0:
		return withheld(b, "pdb disruptions allowed is negative", "pdb disruptions allowed is negative")
	case len(st.DisruptedPods) > maxDisrupted:
		return withheld(b, "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
			"too many pending evictions not confirmed by PDB controller")
	case st.DisruptionsAllowed == 0:
		return overBudget(0, blocked(b))
	}
	return nil
}

// withheld returns the error 403 for a budget whose status is not plausible, with its cause (V-068).
func withheld(b *policyv1.PodDisruptionBudget, message, cause string) error {
	err := apierrors.NewForbidden(budgets, b.Name, errors.New(message))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    policyv1.DisruptionBudgetCause,
		Message: fmt.Sprintf("The disruption budget %s does not allow evicting pods currently: %s", b.Name, cause),
	})
	return err
}

// blocked returns the reason why a budget allows no disruption now. After a failed sync its numbers are not reliable.
func blocked(b *policyv1.PodDisruptionBudget) string {
	why := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	told := why != nil && why.Status == metav1.ConditionFalse && why.Message != ""
	switch {
	case told && why.Reason == policyv1.SyncFailedReason:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s",
			b.Name, why.Message)
	case b.Status.CurrentHealthy <= b.Status.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently",
			b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	case told:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s",
			b.Name, why.Reason, why.Message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", b.Name)
}

func tooManyEvictions(name string) error {
	return overBudget(10, fmt.Sprintf("The disruption budget %s is still being processed by the server.", name))
}

func overBudget(retry int, cause string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retry)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes,
		metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: cause})
	return err
}
