// Package core validates the kinds of core/v1, and its types that kinds of other groups contain, by the rules that the
// comments of their Go types declare.
//
// It guarantees:
//
//  1. The errors are those of upstream's generated code, in its order. Each error has the level of its rule.
//  2. The objects are not changed.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/core/v1
package core

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateCustom_EvictionResponder_Name is a handwritten rule: it rejects Kubernetes' own domains, which are reserved
// (K pkg/apis/core/v1/validation.go).
//
//nolint:revive,staticcheck // the generated code has the name
func ValidateCustom_EvictionResponder_Name(
	_ context.Context, _ operation.Operation, at *field.Path, value, _ *string,
) field.ErrorList {
	if value == nil {
		return nil
	}
	domain, _, _ := strings.Cut(*value, "/")
	domain = "." + strings.TrimRight(strings.ToLower(domain), ".")
	if !strings.HasSuffix(domain, ".k8s.io") && !strings.HasSuffix(domain, ".kubernetes.io") {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *value, "domain names *.k8s.io, *.kubernetes.io are reserved")}
}

// ValidateCustom_EvictionResponder_Priority is a handwritten rule: it rejects priorities below 1000, which are reserved
// (K pkg/apis/core/v1/validation.go).
//
//nolint:revive,staticcheck // the generated code has the name
func ValidateCustom_EvictionResponder_Priority(
	_ context.Context, _ operation.Operation, at *field.Path, value, _ *int32,
) field.ErrorList {
	if value == nil || *value < 0 || *value >= 1000 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *value, "priorities 0-999 are reserved for responders with *.k8s.io suffix")}
}
