package dra

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Here are the rules that the types of resource.k8s.io/v1 declare and that have texts of their own: apimachinery's
// functions for these rules make them (V-038). They replace the handwritten errors of the same type at the same field
// (V-036), which are those of K pkg/apis/resource/validation with MarkCoveredByDeclarative.

// formatted validates a text by the function of a declared format.
func formatted(
	format func(context.Context, operation.Operation, *field.Path, *string, *string) field.ErrorList, text string,
	at *field.Path,
) field.ErrorList {
	return format(context.Background(), operation.Operation{}, at, &text, nil)
}

// declaredDriver validates the name of a driver. An empty one violates no declared format, so that the handwritten
// error stays.
func declaredDriver(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return append(check.Apply("", at, utilvalidation.IsDNS1123Subdomain), field.Required(at, ""))
	}
	return append(formatted(validate.LongNameCaseless, name, at), validate.MaxLength(
		context.Background(), operation.Operation{}, at, &name, nil, resourcev1.DeviceMaxDomainLength,
	)...)
}

// declaredPool validates the name of a pool. A longer one than allowed has the bounded number of errors of poolName.
func declaredPool(name string, at *field.Path) field.ErrorList {
	if name == "" || len(name) > resourcev1.PoolNameMaxLength {
		return poolName(name, at)
	}
	return formatted(validate.ResourcePoolName, name, at)
}

// declaredAttribute validates the name of an attribute with its domain. The declared format accepts more than one
// slash, so that the handwritten error stays.
func declaredAttribute(name resourcev1.FullyQualifiedName, at *field.Path) field.ErrorList {
	if strings.Count(string(name), "/") > 1 {
		return deviceName(resourcev1.QualifiedName(name), at)
	}
	return formatted(validate.ResourceFullyQualifiedName, string(name), at)
}

// declaredResource validates the name of an extended resource. One that has not changed is not validated by the
// declared format, so that the handwritten error stays (V-037).
func declaredResource(name, old *string, at *field.Path) field.ErrorList {
	if name == nil || check.IsExtendedResource(corev1.ResourceName(*name)) {
		return nil
	}
	if old == nil || *old != *name {
		if errs := formatted(validate.ExtendedResourceName, *name, at); len(errs) > 0 {
			return errs
		}
	}
	return field.ErrorList{field.Invalid(at, *name, "must be a valid extended resource name")}
}

// attributeKinds are the fields of an attribute, of which one is set.
var attributeKinds = validate.NewUnionMembership(
	validate.NewUnionMember("int"), validate.NewUnionMember("bool"), validate.NewUnionMember("string"),
	validate.NewUnionMember("version"), validate.NewUnionMember("ints"), validate.NewUnionMember("bools"),
	validate.NewUnionMember("strings"), validate.NewUnionMember("versions"),
)

// declaredKind requires one of the fields.
func declaredKind(a *resourcev1.DeviceAttribute, at *field.Path) field.ErrorList {
	return validate.Union(context.Background(), operation.Operation{}, at, a, nil, attributeKinds,
		func(a *resourcev1.DeviceAttribute) bool { return a != nil && a.IntValue != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a != nil && a.BoolValue != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a != nil && a.StringValue != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a != nil && a.VersionValue != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a != nil && len(a.IntValues) > 0 },
		func(a *resourcev1.DeviceAttribute) bool { return a != nil && len(a.BoolValues) > 0 },
		func(a *resourcev1.DeviceAttribute) bool { return a != nil && len(a.StringValues) > 0 },
		func(a *resourcev1.DeviceAttribute) bool { return a != nil && len(a.VersionValues) > 0 },
	)
}

// unmodified rejects another allocation, if there was one.
func unmodified(now, was *resourcev1.AllocationResult, at *field.Path) field.ErrorList {
	if apiequality.Semantic.DeepEqual(now, was) {
		return nil
	}
	return validate.UpdatePointer(
		context.Background(), operation.Operation{Type: operation.Update}, at, now, was, validate.NoModify,
	)
}
