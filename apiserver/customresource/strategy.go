package customresource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// validate validates an object; old is nil for a new one (AX pkg/registry/customresource/strategy.go: Validate). On an
// update, unchanged parts may stay invalid.
func (v *version) validate(obj, old runtime.Object) field.ErrorList {
	r, err := v.rules()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	content := obj.(*unstructured.Unstructured).Object
	if errs := r.tooCostly(content); len(errs) > 0 {
		return errs
	}
	var was map[string]any
	var both *common.CorrelatedObject
	var options []cel.Option
	if old != nil {
		was = old.(*unstructured.Unstructured).Object
		both = common.NewCorrelatedObject(content, was, &model.Structural{Structural: r.structural})
		options = []cel.Option{cel.WithRatcheting(both)}
	}
	errs := v.typeErrors(obj)
	if len(errs) == 0 {
		if old == nil {
			errs = validation.ValidateCustomResource(nil, content, r.object)
		} else {
			errs = validation.ValidateCustomResourceUpdate(nil, content, was, r.object, validation.WithRatcheting(both))
		}
		errs = append(errs, v.scaleSpec(content)...)
		errs = append(errs, v.scaleStatus(content)...)
	}
	errs = append(errs, objectmeta.Validate(context.Background(), nil, content, r.structural, false)...)
	if invalid.Enough(errs) {
		return errs
	}
	errs = append(errs, r.newDuplicates(content, was)...)
	return r.evaluate(errs, content, was, options...)
}

// validateStatus validates an update of the status subresource.
func (v *version) validateStatus(obj, old runtime.Object) field.ErrorList {
	r, err := v.rules()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	content, was := obj.(*unstructured.Unstructured).Object, old.(*unstructured.Unstructured).Object
	if errs := r.tooCostly(content); len(errs) > 0 {
		return errs
	}
	both := common.NewCorrelatedObject(content, was, &model.Structural{Structural: r.structural})
	var errs field.ErrorList
	if status, ok := content["status"]; ok {
		errs = validation.ValidateCustomResourceUpdate(
			field.NewPath("status"), status, was["status"], r.status, validation.WithRatcheting(both.Key("status")),
		)
	}
	errs = append(errs, v.scaleStatus(content)...)
	if invalid.Enough(errs) {
		return errs
	}
	errs = append(errs, r.newDuplicates(content, was)...)
	return r.evaluate(errs, content, was, cel.WithRatcheting(both))
}

// typeErrors returns the errors in an object's kind and apiVersion. If there are any, the schema does not validate the
// rest (AX pkg/registry/customresource/validator.go:ValidateTypeMeta).
func (v *version) typeErrors(obj runtime.Object) (errs field.ErrorList) {
	apiVersion, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	if kind != v.kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), kind, "must be "+v.kind))
	}
	if apiVersion != v.apiVersion {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), apiVersion, "must be "+v.apiVersion))
	}
	return errs
}

// newDuplicates returns errors for duplicates in lists that are sets or maps, unless the old object had duplicates.
func (r *rules) newDuplicates(content, was map[string]any) field.ErrorList {
	errs := listtype.ValidateListSetsAndMaps(nil, r.structural, content)
	if len(errs) > 0 && len(listtype.ValidateListSetsAndMaps(nil, r.structural, was)) > 0 {
		return nil
	}
	return errs
}

// evaluate adds the errors of x-kubernetes-validations, unless an error of the schema prevents their evaluation.
func (r *rules) evaluate(errs field.ErrorList, content, was map[string]any, options ...cel.Option) field.ErrorList {
	if r.expressions == nil || invalid.Enough(errs) {
		return errs
	}
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany,
			field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(
				nil, nil,
				"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
			))
		}
	}
	var before any
	if was != nil {
		before = was
	}
	found, left := r.expressions.Validate(
		context.Background(), nil, r.structural, content, before, firstBudget, options...,
	)
	if left < 0 && len(found) <= invalid.MaxErrors {
		found, _ = r.expressions.Validate(
			context.Background(), nil, r.structural, content, before, celconfig.RuntimeCELCostBudget, options...,
		)
	}
	return append(errs, found...)
}

// firstBudget is the cost budget of the first evaluation. It limits the number of errors, because the full budget
// allows millions. If an evaluation exceeds its budget, only its last error reports that.
const firstBudget = celconfig.RuntimeCELCostBudget / 1000

// prepareStatus restores everything but status and managedFields.
func prepareStatus(obj, old runtime.Object) {
	u := obj.(*unstructured.Unstructured)
	status, ok := u.Object["status"]
	managed := u.GetManagedFields()
	u.Object = old.DeepCopyObject().(*unstructured.Unstructured).Object
	u.SetManagedFields(managed)
	if delete(u.Object, "status"); ok {
		u.Object["status"] = status
	}
}

// warnings returns warnings about new finalizers (A-31; AX pkg/registry/customresource/validator.go).
func warnings(obj, old runtime.Object) (texts []string) {
	names := slices.Sorted(slices.Values(obj.(metav1.Object).GetFinalizers()))
	for _, name := range slices.Compact(names) {
		if old == nil || !slices.Contains(old.(metav1.Object).GetFinalizers(), name) {
			texts = append(texts, finalizerWarnings(name)...)
		}
	}
	return texts
}

func finalizerWarnings(name string) (texts []string) {
	const path = "metadata.finalizers"
	for _, msg := range utilvalidation.IsQualifiedName(name) {
		texts = append(texts, fmt.Sprintf("%s: %q: %s", path, name, msg))
	}
	if strings.Contains(name, "/") || name == metav1.FinalizerOrphanDependents ||
		name == metav1.FinalizerDeleteDependents || name == "kubernetes" {
		return texts
	}
	prefer := "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"
	if strings.Contains(name, ".") {
		prefer = "prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"
	}
	return append(texts, fmt.Sprintf("%s: %q: %s", path, name, prefer))
}
