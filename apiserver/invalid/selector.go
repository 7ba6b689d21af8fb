package invalid

import (
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The following functions are apimachinery's of the same names, but they stop at the first step with enough errors.
// Apimachinery's return the errors of all entries.

// Labels is ValidateLabels.
func Labels(all map[string]string, at *field.Path) field.ErrorList {
	return v1validation.ValidateLabels(cutMap(all, wrongLabels), at)
}

// Annotations is ValidateAnnotations.
func Annotations(all map[string]string, at *field.Path) field.ErrorList {
	return apivalidation.ValidateAnnotations(cutMap(all, wrongAnnotations), at)
}

// Conditions is ValidateConditions.
func Conditions(all []metav1.Condition, at *field.Path) field.ErrorList {
	return v1validation.ValidateConditions(cutList(all, func(some []metav1.Condition) field.ErrorList {
		return v1validation.ValidateConditions(some, nil)
	}), at)
}

// Selector is ValidateLabelSelector.
func Selector(
	s *metav1.LabelSelector, opts v1validation.LabelSelectorValidationOptions, at *field.Path,
) field.ErrorList {
	if s == nil {
		return field.ErrorList{}
	}
	errs := Labels(s.MatchLabels, at.Child("matchLabels"))
	at = at.Child("matchExpressions")
	for i, e := range Each(s.MatchExpressions, &errs) {
		if !opts.AllowInvalidLabelValueInSelector {
			e.Values = cutList(e.Values, wrongValues)
		}
		errs = append(errs, v1validation.ValidateLabelSelectorRequirement(e, opts, at.Index(i))...)
	}
	return errs
}

// AsSelector is LabelSelectorAsSelector, which stops at the first invalid expression, but returns the errors of all its
// values.
func AsSelector(s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil || !slices.ContainsFunc(s.MatchExpressions, longRequirement) {
		return metav1.LabelSelectorAsSelector(s)
	}
	cut := &metav1.LabelSelector{MatchLabels: s.MatchLabels, MatchExpressions: slices.Clone(s.MatchExpressions)}
	for i := range cut.MatchExpressions {
		e := &cut.MatchExpressions[i]
		e.Values = cutList(e.Values, wrongValues)
	}
	return metav1.LabelSelectorAsSelector(cut)
}

func longRequirement(r metav1.LabelSelectorRequirement) bool { return len(r.Values) > step }

// The errors of a step are only counted, so their paths don't matter.
func wrongLabels(some map[string]string) field.ErrorList {
	return v1validation.ValidateLabels(some, nil)
}

func wrongAnnotations(some map[string]string) field.ErrorList {
	return apivalidation.ValidateAnnotations(some, nil)
}

func wrongValues(some []string) (errs field.ErrorList) {
	for _, value := range some {
		for range utilvalidation.IsValidLabelValue(value) {
			errs = append(errs, nil)
		}
	}
	return errs
}
