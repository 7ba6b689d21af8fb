package check

import (
	"strconv"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// IntOrPercent requires a non-negative number or a percentage (apps ValidatePositiveIntOrPercent).
func IntOrPercent(v intstr.IntOrString, at *field.Path) (errs field.ErrorList) {
	switch v.Type {
	case intstr.String:
		for _, text := range utilvalidation.IsValidPercent(v.StrVal) {
			errs = append(errs, field.Invalid(at, v, text))
		}
		return errs
	case intstr.Int:
		return apivalidation.ValidateNonnegativeField(int64(v.IntValue()), at)
	}
	return field.ErrorList{field.Invalid(at, v, "must be an integer or percentage (e.g '5%%')")}
}

// PercentOf returns the number of a percentage, and whether it is one.
func PercentOf(v intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(utilvalidation.IsValidPercent(v.StrVal)) != 0 {
		return 0, false
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	return n, true
}

// AtMostWhole rejects more than 100% (apps IsNotMoreThan100Percent).
func AtMostWhole(v intstr.IntOrString, at *field.Path) field.ErrorList {
	if n, ok := PercentOf(v); !ok || n <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, v, "must not be greater than 100%")}
}
