package customresource

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsinternal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// setApproval sets the condition for the API approval of a CRD in one of Kubernetes' own groups (AX
// pkg/controller/apiapproval).
func setApproval(d *apiextensionsv1.CustomResourceDefinition, now metav1.Time) {
	if !apihelpers.IsProtectedCommunityGroup(d.Spec.Group) {
		return
	}
	state, message := apihelpers.GetAPIApprovalState(d.Annotations)
	c := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant,
		Status: apiextensionsv1.ConditionFalse, Message: message}
	switch state {
	case apihelpers.APIApproved:
		c.Status, c.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		c.Reason = "UnapprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		c.Reason = "MissingAnnotation"
	default:
		c.Reason = "InvalidAnnotation"
	}
	SetCondition(d, c, now)
}

// setStructure sets the condition for a schema that is not structural (AX pkg/controller/nonstructuralschema). Only a
// CRD that already had such a schema can be written with one. So setStructure checks the schemas, which can be large,
// only if Structural returns false.
func setStructure(d *apiextensionsv1.CustomResourceDefinition, now metav1.Time) {
	if Structural(d) {
		return
	}
	c := violations(d)
	if c == nil {
		d.Status.Conditions = slices.DeleteFunc(d.Status.Conditions, func(
			c apiextensionsv1.CustomResourceDefinitionCondition,
		) bool {
			return c.Type == apiextensionsv1.NonStructuralSchema
		})
		return
	}
	SetCondition(d, *c, now)
}

// violations returns the condition that the CRD should have, or nil if it is structural.
func violations(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionCondition {
	c := &apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NonStructuralSchema, Status: apiextensionsv1.ConditionTrue, Reason: "Violations",
	}
	var errs field.ErrorList
	if d.Spec.PreserveUnknownFields {
		errs = append(errs, field.Invalid(field.NewPath("spec", "preserveUnknownFields"), true, "must be false"))
	}
	for i, v := range d.Spec.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		in := &apiextensionsinternal.CustomResourceValidation{}
		err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(
			v.Schema.DeepCopy(), in, nil,
		)
		if err != nil {
			continue // it has been written, so it can be converted
		}
		s, err := schema.NewStructural(in.OpenAPIV3Schema)
		if err != nil {
			c.Status, c.Reason = apiextensionsv1.ConditionUnknown, "StructuralError"
			c.Message = fmt.Sprintf("failed to check validation schema for version %s: %v", v.Name, err)
			return c
		}
		errs = append(
			errs, schema.ValidateStructural(field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema"), s)...,
		)
	}
	if len(errs) == 0 {
		return nil
	}
	c.Message = errs.ToAggregate().Error()
	return c
}
