package fairness

import (
	"fmt"
	"strconv"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dangling returns the condition of a FlowSchema, and whether the stored one differs.
func dangling(
	s *flowcontrolv1.FlowSchema, hasLevel bool, now metav1.Time,
) (c flowcontrolv1.FlowSchemaCondition, changed bool) {
	refers := fmt.Sprintf(
		"This FlowSchema references the PriorityLevelConfiguration object named %q", s.Spec.PriorityLevelConfiguration.Name,
	)
	c = flowcontrolv1.FlowSchemaCondition{
		Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionFalse, LastTransitionTime: now,
		Reason: "Found", Message: refers + " and it exists",
	}
	if !hasLevel {
		c.Status, c.Reason = flowcontrolv1.ConditionTrue, "NotFound"
		c.Message = refers + " but there is no such object"
	}
	for _, old := range s.Status.Conditions {
		if old.Type == c.Type {
			return c, old.Status != c.Status || old.Reason != c.Reason || old.Message != c.Message
		}
	}
	return c, true
}

// kind has the differences between the two kinds of objects.
type kind[T Object] struct {
	// mandatory and suggested are the objects that every cluster has.
	mandatory, suggested []T
	// setSpec copies from's spec to into, except what an administrator may set. same reports whether that changes
	// nothing.
	setSpec func(into, from T)
	copied  func(T) T
	same    func(a, b T) bool
}

// revise returns the new state of a stored object; ok is false if it is unchanged.
func revise[T Object](k *kind[T], stored, want T, mandatory bool) (revised T, ok bool) {
	update := mandatory || updated(stored)
	revised = k.copied(stored)
	if value, err := autoUpdate(stored); err != nil || value != update {
		annotations := revised.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[flowcontrolv1.AutoUpdateAnnotationKey] = strconv.FormatBool(update)
		revised.SetAnnotations(annotations)
		ok = true
	}
	if update {
		k.setSpec(revised, want)
		ok = ok || !k.same(stored, revised)
	}
	return revised, ok
}

// autoUpdate is the value of an object's annotation; an error if it is absent or invalid.
func autoUpdate(o Object) (bool, error) {
	return strconv.ParseBool(o.GetAnnotations()[flowcontrolv1.AutoUpdateAnnotationKey])
}

// updated reports whether the spec of a suggested object is updated.
func updated(o Object) bool {
	value, err := autoUpdate(o)
	if err != nil {
		return o.GetGeneration() == 1 // no one has changed it since it was created
	}
	return value
}

// unwanted reports whether an object was once maintained by a server, and isn't one of the cluster's objects any more.
func unwanted[T Object](k *kind[T], o T) bool {
	for _, all := range [][]T{k.mandatory, k.suggested} {
		for _, want := range all {
			if want.GetName() == o.GetName() {
				return false
			}
		}
	}
	value, err := autoUpdate(o)
	return err == nil && value
}

func setSchema(into, from *flowcontrolv1.FlowSchema) { into.Spec = *from.Spec.DeepCopy() }

func sameSchema(a, b *flowcontrolv1.FlowSchema) bool {
	return equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// setLevel does not change the field exempt (K pkg/registry/flowcontrol/ensurer/prioritylevelconfiguration.go).
func setLevel(into, from *flowcontrolv1.PriorityLevelConfiguration) {
	exempt := into.Spec.Exempt
	into.Spec = *from.Spec.DeepCopy()
	if into.Spec.Type == flowcontrolv1.PriorityLevelEnablementExempt && exempt != nil {
		into.Spec.Exempt = exempt
	}
}

func sameLevel(a, b *flowcontrolv1.PriorityLevelConfiguration) bool {
	return equality.Semantic.DeepEqual(a.Spec, b.Spec)
}
