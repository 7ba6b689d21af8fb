package customresource

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// scaleSpec validates the replicas that the scale subresource writes (AX pkg/registry/customresource/validator.go).
func (v *version) scaleSpec(content map[string]any) field.ErrorList {
	if v.Subresources == nil || v.Subresources.Scale == nil {
		return nil
	}
	return replicas(content, v.Subresources.Scale.SpecReplicasPath)
}

// scaleStatus validates the fields that the scale subresource reads.
func (v *version) scaleStatus(content map[string]any) field.ErrorList {
	if v.Subresources == nil || v.Subresources.Scale == nil {
		return nil
	}
	s := v.Subresources.Scale
	errs := replicas(content, s.StatusReplicasPath)
	if s.LabelSelectorPath != nil {
		text, _, err := unstructured.NestedString(content, fields(*s.LabelSelectorPath)...)
		if err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*s.LabelSelectorPath), text, err.Error()))
		}
	}
	return errs
}

func replicas(content map[string]any, path string) field.ErrorList {
	n, _, err := unstructured.NestedInt64(content, fields(path)...)
	message := ""
	switch {
	case err != nil:
		message = err.Error()
	case n < 0:
		message = "should be a non-negative integer"
	case n > math.MaxInt32:
		message = fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(path), n, message)}
}

// fields returns the names in a simple JSON path (".spec.replicas").
func fields(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
