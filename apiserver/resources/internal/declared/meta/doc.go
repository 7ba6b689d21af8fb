// Package meta validates metadata and conditions by the rules that the comments of their Go types declare. The other
// packages call it, because the generator writes no code into the module that has these types.
//
// It guarantees:
//
//  1. The errors are those of upstream's generated code, in its order. Each error has the level of its rule.
//  2. The objects are not changed.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/apimachinery/pkg/apis/meta/v1
package meta

import (
	"context"

	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateCustom_Condition_LastTransitionTime is a handwritten rule.
//
//nolint:revive,staticcheck // the generated code has the name
//nolint:revive,staticcheck // the generated code has the name
func ValidateCustom_Condition_LastTransitionTime(
	ctx context.Context, op operation.Operation, at *field.Path, value, old *metav1.Time,
) field.ErrorList {
	return metav1validation.ValidateCustom_Condition_LastTransitionTime(ctx, op, at, value, old)
}
