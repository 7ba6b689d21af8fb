package job

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// policyMatch is the result of spec.podFailurePolicy for a failed pod.
type policyMatch struct {
	// action is the action of the matching rule; empty if none matches.
	action batchv1.PodFailurePolicyAction
	// message is the reason why the Job fails, if the action is FailJob.
	message string
}

// counts reports whether the failure counts towards the limits.
func (j policyMatch) counts() bool { return j.action != batchv1.PodFailurePolicyActionIgnore }

// matchRule finds the first rule that matches (pod_failure_policy.go: matchPodFailurePolicy).
func matchRule(policy *batchv1.PodFailurePolicy, p *corev1.Pod) policyMatch {
	if policy == nil {
		return policyMatch{}
	}
	for i, rule := range policy.Rules {
		why := ""
		switch {
		case rule.OnExitCodes != nil:
			if c := exited(p, rule.OnExitCodes); c != nil {
				why = fmt.Sprintf("Container %s for pod %s/%s failed with exit code %v matching %v rule at index %d",
					c.Name, p.Namespace, p.Name, c.State.Terminated.ExitCode, rule.Action, i)
			}
		case rule.OnPodConditions != nil:
			if c := conditioned(p, rule.OnPodConditions); c != nil {
				why = fmt.Sprintf(
					"Pod %s/%s has condition %v matching %v rule at index %d", p.Namespace, p.Name, c.Type, rule.Action, i,
				)
			}
		}
		if why != "" {
			return policyMatch{rule.Action, why}
		}
	}
	return policyMatch{}
}

// exited returns a container with an exit code of the rule; init containers come last.
func exited(p *corev1.Pod, want *batchv1.PodFailurePolicyOnExitCodesRequirement) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for i := range list {
			t := list[i].State.Terminated
			if t == nil || t.ExitCode == 0 || want.ContainerName != nil && *want.ContainerName != list[i].Name {
				continue
			}
			in := slices.Contains(want.Values, t.ExitCode)
			if in && want.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn ||
				!in && want.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn {
				return &list[i]
			}
		}
	}
	return nil
}

func conditioned(p *corev1.Pod, want []batchv1.PodFailurePolicyOnPodConditionsPattern) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if slices.ContainsFunc(want, func(w batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
			return c.Type == w.Type && c.Status == w.Status
		}) {
			return c
		}
	}
	return nil
}

// succeeds reports whether spec.successPolicy is satisfied, and its message (success_policy.go: matchSuccessPolicy).
func succeeds(j *batchv1.Job, done indexes) (message string, ok bool) {
	if j.Spec.SuccessPolicy == nil || len(done) == 0 {
		return "", false
	}
	for i, rule := range j.Spec.SuccessPolicy.Rules {
		n, all := done.total(), false
		if rule.SucceededIndexes != nil {
			want := parseIndexes(*rule.SucceededIndexes, int(*j.Spec.Completions))
			if len(want) == 0 {
				continue
			}
			n = want.common(done)
			all = n == want.total()
		}
		if all || rule.SucceededCount != nil && n >= int(*rule.SucceededCount) {
			return fmt.Sprintf("Matched rules at index %d", i), true
		}
	}
	return "", false
}
