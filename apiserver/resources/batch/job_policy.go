package batch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

var (
	failureActions = []batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
	}
	failureOperators = []batchv1.PodFailurePolicyOnExitCodesOperator{
		batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn,
	}
	conditionStatuses = []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
)

// chosen requires one of the values. The error for an empty value lists them.
func chosen[T ~string](value T, at *field.Path, values []T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, fmt.Sprintf("valid values: %q", values))}
	}
	return check.OneOf(value, at, values)
}

// failurePolicy validates rules for failed pods (batch validatePodFailurePolicy).
func failurePolicy(s *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.MaxItems(len(s.PodFailurePolicy.Rules), 20, at)...)
	containers := map[string]bool{}
	for _, list := range [][]corev1.Container{s.Template.Spec.Containers, s.Template.Spec.InitContainers} {
		for i := range list {
			containers[list[i].Name] = true
		}
	}
	for i := range s.PodFailurePolicy.Rules {
		rule, here := &s.PodFailurePolicy.Rules[i], at.Index(i)
		errs = append(errs, check.Reject(
			rule.Action == batchv1.PodFailurePolicyActionFailIndex && s.BackoffLimitPerIndex == nil,
			here.Child("action"), rule.Action, "requires the backoffLimitPerIndex to be set")...)
		errs = append(errs, chosen(rule.Action, here.Child("action"), failureActions)...)
		if rule.OnExitCodes != nil {
			errs = append(errs, exitCodes(rule.OnExitCodes, containers, here.Child("onExitCodes"))...)
		}
		errs = append(errs, podConditions(rule.OnPodConditions, here.Child("onPodConditions"))...)
		switch codes, conditions := rule.OnExitCodes != nil, len(rule.OnPodConditions) > 0; {
		case codes && conditions:
			errs = append(errs, field.Invalid(here, field.OmitValueType{},
				"specifying both OnExitCodes and OnPodConditions is not supported"))
		case !codes && !conditions:
			errs = append(errs, field.Invalid(here, field.OmitValueType{},
				"specifying one of OnExitCodes and OnPodConditions is required"))
		}
	}
	return errs
}

func exitCodes(
	r *batchv1.PodFailurePolicyOnExitCodesRequirement, containers map[string]bool, at *field.Path,
) field.ErrorList {
	errs := chosen(r.Operator, at.Child("operator"), failureOperators)
	errs = append(errs, check.Reject(r.ContainerName != nil && !containers[*r.ContainerName], at.Child("containerName"),
		check.ValueOf(r.ContainerName), "must be one of the container or initContainer names in the pod template")...)
	values := at.Child("values")
	switch n := len(r.Values); {
	case n == 0:
		errs = append(errs, field.Invalid(values, r.Values, "at least one value is required"))
	case n > 255:
		errs = append(errs, field.TooMany(values, n, 255))
	}
	seen := check.Unique[int32]{}
	for i, code := range r.Values {
		errs = append(errs, check.Reject(r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && code == 0, values.Index(i),
			code, "must not be 0 for the In operator")...)
		errs = append(errs, seen.Add(code, values.Index(i))...)
	}
	return append(errs, check.Reject(!slices.IsSorted(r.Values), values, r.Values, "must be ordered")...)
}

func podConditions(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.MaxItems(len(patterns), 20, at)...)
	for i, p := range patterns {
		errs = append(errs, check.QualifiedName(string(p.Type), at.Index(i).Child("type"))...)
		errs = append(errs, chosen(p.Status, at.Index(i).Child("status"), conditionStatuses)...)
	}
	return errs
}

// successPolicy validates rules for successful indexes (batch validateSuccessPolicy).
func successPolicy(s *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	switch n := len(s.SuccessPolicy.Rules); {
	case n == 0:
		errs = append(errs, field.Required(at, "at least one rules must be specified when the successPolicy is specified"))
	case n > 20:
		errs = append(errs, field.TooMany(at, n, 20))
	}
	for i := range s.SuccessPolicy.Rules {
		errs = append(errs, successRule(&s.SuccessPolicy.Rules[i], check.ValueOf(s.Completions), at.Index(i))...)
	}
	return errs
}

const maxSucceededIndexesLen = 64 * 1024

func successRule(r *batchv1.SuccessPolicyRule, completions int32, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(r.SucceededCount != nil || r.SucceededIndexes != nil, at,
		"at least one of succeededCount or succeededIndexes must be specified")...)
	var named int32
	if r.SucceededIndexes != nil {
		here := at.Child("succeededIndexes")
		errs = append(errs, check.MaxBytes(len(*r.SucceededIndexes), maxSucceededIndexesLen, here)...)
		intervals, err := parseIndexes(*r.SucceededIndexes, completions)
		if err != nil {
			errs = append(errs, field.Invalid(here, *r.SucceededIndexes, fmt.Sprintf("error parsing succeededIndexes: %s", err)))
		}
		for _, v := range intervals {
			named += v.last - v.first + 1
		}
	}
	if n := r.SucceededCount; n != nil {
		here := at.Child("succeededCount")
		errs = append(errs, check.Natural(*n, here)...)
		errs = append(errs, check.Reject(*n > completions, here, n,
			fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions))...)
		errs = append(errs, check.Reject(r.SucceededIndexes != nil && *n > named, here, n, fmt.Sprintf(
			"must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", named))...)
	}
	return errs
}

// interval is a range of indexes, including both ends.
type interval struct{ first, last int32 }

// parseIndexes parses increasing intervals below the number of completions, such as "1,3-5,7". After an error the
// result is empty.
func parseIndexes(text string, completions int32) (list []interval, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		v, err := parseInterval(part, completions)
		if err != nil {
			return nil, err
		}
		if n := len(list); n > 0 && list[n-1].last >= v.first {
			return nil, fmt.Errorf("non-increasing order, previous: %d, current: %d", list[n-1].last, v.first)
		}
		list = append(list, v)
	}
	return list, nil
}

func parseInterval(text string, completions int32) (v interval, err error) {
	ends := strings.Split(text, "-")
	if len(ends) > 2 {
		return v, fmt.Errorf(
			"the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text,
		)
	}
	numbers := make([]int, len(ends))
	for i, end := range ends {
		n, err := strconv.Atoi(end)
		switch {
		case err != nil:
			return v, fmt.Errorf("cannot convert string to integer for index: %q", end)
		case n >= int(completions):
			return v, fmt.Errorf("too large index: %q", end)
		}
		numbers[i] = n
	}
	first, last := numbers[0], numbers[len(numbers)-1]
	if len(ends) == 2 && first >= last {
		return v, fmt.Errorf("non-increasing order, previous: %d, current: %d", first, last)
	}
	return interval{int32(first), int32(last)}, nil
}

var errOverlap = errors.New("failedIndexes and completedIndexes overlap")

// overlap returns an error for an index that is both completed and failed. Malformed lists are reported elsewhere.
func overlap(completed, failed string, completions int32) error {
	if completed == "" || failed == "" {
		return nil
	}
	read := func(text string) (list []interval) {
		for part := range strings.SplitSeq(text, ",") {
			if v, err := parseInterval(part, completions); err == nil {
				list = append(list, v)
			}
		}
		return list
	}
	c, f := read(completed), read(failed)
	for len(c) > 0 && len(f) > 0 {
		switch {
		case c[0].first <= f[0].last && f[0].first <= c[0].last:
			return fmt.Errorf("%w at index: %d", errOverlap, max(c[0].first, f[0].first))
		case c[0].first <= f[0].first:
			c = c[1:]
		default:
			f = f[1:]
		}
	}
	return nil
}
