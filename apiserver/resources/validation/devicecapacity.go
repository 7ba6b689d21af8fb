package validation

import (
	"fmt"
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

const maxValidValues = 10

// deviceCapacity judges how much of a capacity a claim can have; only what several claims share has
// such a policy.
func deviceCapacity(c *resourcev1.DeviceCapacity, shared bool, at *field.Path) field.ErrorList {
	p := c.RequestPolicy
	switch {
	case p == nil:
		return nil
	case !shared:
		return field.ErrorList{field.Forbidden(at, "allowMultipleAllocations must be true")}
	case len(p.ValidValues) > 0 && p.ValidRange != nil:
		return field.ErrorList{field.Forbidden(at, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)}
	case len(p.ValidValues) > 0 && p.Default == nil:
		return field.ErrorList{field.Required(at.Child("default"), "required when validValues is defined")}
	case p.ValidRange != nil && p.Default == nil:
		return field.ErrorList{field.Required(at.Child("default"), "required when validRange is defined")}
	case len(p.ValidValues) > 0:
		return validValues(p.ValidValues, *p.Default, c.Value, at.Child("validValues"))
	case p.ValidRange != nil:
		return validRange(p.ValidRange, *p.Default, c.Value, at.Child("validRange"))
	}
	return nil
}

func validValues(values []resource.Quantity, standard, capacity resource.Quantity, at *field.Path) (errs field.ErrorList) {
	for i := range invalid.Each(values, &errs) {
		if i > 0 && values[i-1].Cmp(values[i]) > 0 {
			errs = append(errs, field.Invalid(at.Index(i), values[i].String(), "values must be sorted in ascending order"))
		}
	}
	found := false
	errs = append(errs, distinct(values, maxValidValues, at, func(v *resource.Quantity, at *field.Path) field.ErrorList {
		found = found || v.Cmp(standard) == 0
		if v.Cmp(capacity) > 0 {
			return field.ErrorList{field.Invalid(at, v.String(), "option is larger than capacity value: "+capacity.String())}
		}
		return nil
	}, func(v *resource.Quantity) string { return strconv.FormatInt(v.Value(), 10) })...)
	if !found {
		errs = append(errs, field.Invalid(at, standard.String(), "default value is not valid according to the requestPolicy"))
	}
	return errs
}

func validRange(r *resourcev1.CapacityRequestPolicyRange, standard, capacity resource.Quantity, at *field.Path) (errs field.ErrorList) {
	if r.Min == nil {
		return field.ErrorList{field.Required(at.Child("min"), "required when validRange is defined")}
	}
	ordered := func(low, high resource.Quantity, child string, value resource.Quantity, text string, bound resource.Quantity) {
		if low.Cmp(high) > 0 {
			errs = append(errs, field.Invalid(at.Child(child), value.String(), text+": "+bound.String()))
		}
	}
	ordered(*r.Min, capacity, "min", *r.Min, "min is larger than capacity value", capacity)
	ordered(*r.Min, standard, "default", standard, "default is less than min", *r.Min)
	if r.Max != nil {
		ordered(*r.Min, *r.Max, "max", *r.Min, "min is larger than max", *r.Max)
		ordered(*r.Max, capacity, "max", *r.Max, "max is larger than capacity value", capacity)
		ordered(standard, *r.Max, "default", standard, "default is more than max", *r.Max)
	}
	if r.Step == nil {
		return errs
	}
	step := at.Child("step")
	if r.Step.Sign() <= 0 {
		return append(errs, field.Invalid(step, r.Step.String(), notPositiveText))
	}
	next := r.Min.DeepCopy()
	next.Add(*r.Step)
	if next.Cmp(capacity) > 0 {
		errs = append(errs, field.Invalid(step, r.Step.String(), fmt.Sprintf("one step %s is larger than capacity value: %s", next.String(), capacity.String())))
	}
	errs = append(errs, onStep(standard, r, step)...)
	if r.Max != nil {
		errs = append(errs, onStep(*r.Max, r, step)...)
	}
	return errs
}

// onStep wants a whole number of steps between the range's start and the value. Steps that are too
// large to count with are let pass.
func onStep(v resource.Quantity, r *resourcev1.CapacityRequestPolicyRange, at *field.Path) field.ErrorList {
	size := r.Step.Value()
	if size == 0 || (v.Value()-r.Min.Value())%size == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, v.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", r.Step.String(), r.Min.String()))}
}
