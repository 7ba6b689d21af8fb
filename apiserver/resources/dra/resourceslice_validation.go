package dra

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

const maxValidValues = 10

// deviceCapacity validates a capacity's policy for requests of claims. Only devices with shared capacity may have one.
func deviceCapacity(c *resourcev1.DeviceCapacity, shared bool, at *field.Path) field.ErrorList {
	p := c.RequestPolicy
	switch {
	case p == nil:
		return nil
	case !shared:
		return field.ErrorList{field.Forbidden(at, "allowMultipleAllocations must be true")}
	case len(p.ValidValues) > 0 && p.ValidRange != nil:
		return field.ErrorList{field.Forbidden(
			at, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`,
		)}
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

func validValues(
	values []resource.Quantity, standard, capacity resource.Quantity, at *field.Path,
) (errs field.ErrorList) {
	for i := range values {
		if i > 0 && values[i-1].Cmp(values[i]) > 0 {
			errs = append(errs, field.Invalid(at.Index(i), values[i].String(), "values must be sorted in ascending order"))
		}
	}
	found := false
	errs = append(errs, distinct(values, maxValidValues, at, func(v *resource.Quantity, at *field.Path) field.ErrorList {
		found = found || v.Cmp(standard) == 0
		return check.Reject(v.Cmp(capacity) > 0, at, v.String(),
			"option is larger than capacity value: "+capacity.String())
	}, func(v *resource.Quantity) string { return strconv.FormatInt(v.Value(), 10) })...)
	return append(errs, check.Reject(!found, at, standard.String(),
		"default value is not valid according to the requestPolicy")...)
}

func validRange(
	r *resourcev1.CapacityRequestPolicyRange, standard, capacity resource.Quantity, at *field.Path,
) (errs field.ErrorList) {
	if r.Min == nil {
		return field.ErrorList{field.Required(at.Child("min"), "required when validRange is defined")}
	}
	ordered := func(
		low, high resource.Quantity, child string, value resource.Quantity, text string, bound resource.Quantity,
	) {
		errs = append(errs,
			check.Reject(low.Cmp(high) > 0, at.Child(child), value.String(), text+": "+bound.String())...)
	}
	ordered(*r.Min, capacity, "min", *r.Min, "min is larger than capacity value", capacity)
	ordered(*r.Min, standard, "min", standard, "default is less than min", *r.Min)
	if r.Max != nil {
		ordered(*r.Min, *r.Max, "max", *r.Min, "min is larger than max", *r.Max)
		ordered(*r.Max, capacity, "max", *r.Max, "max is larger than capacity value", capacity)
		ordered(standard, *r.Max, "max", standard, "default is more than max", *r.Max)
	}
	if r.Step == nil {
		return errs
	}
	step := at.Child("step")
	if r.Step.Sign() <= 0 {
		return append(errs, field.Invalid(step, r.Step.String(), check.NotPositiveText))
	}
	next := r.Min.DeepCopy()
	next.Add(*r.Step)
	errs = append(errs, check.Reject(next.Cmp(capacity) > 0, step, r.Step.String(),
		fmt.Sprintf("one step %s is larger than capacity value: %s", next.String(), capacity.String()))...)
	errs = append(errs, onStep(standard, r, step)...)
	if r.Max != nil {
		errs = append(errs, onStep(*r.Max, r, step)...)
	}
	return errs
}

// onStep requires that the value is a whole number of steps above the range's start. It accepts steps that are too
// large for the computation.
func onStep(v resource.Quantity, r *resourcev1.CapacityRequestPolicyRange, at *field.Path) field.ErrorList {
	size := r.Step.Value()
	if size == 0 || (v.Value()-r.Min.Value())%size == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(
		at, v.String(),
		fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", r.Step.String(), r.Min.String()),
	)}
}

// keyed validates a map's keys and values. It shortens long keys in paths. The errors are sorted by key; upstream's
// order is random.
func keyed[K ~string, V any](
	m map[K]V, at *field.Path, key func(K, *field.Path) field.ErrorList,
	value func(V, *field.Path) field.ErrorList,
) (errs field.ErrorList) {
	for _, k := range check.Sorted(m) {
		errs = append(errs, key(k, at)...)
		errs = append(errs, value(m[k], at.Key(shortened(string(k), maxDeviceKey)))...)
	}
	return errs
}

// shortened removes the middle of a long string.
func shortened(s string, length int) string {
	const gap = "..."
	if len(s) <= length {
		return s
	}
	rest := length - len(gap)
	return s[:(rest+1)/2] + gap + s[len(s)-rest/2:]
}

const maxDeviceKey = resourcev1.DeviceMaxDomainLength + 1 + resourcev1.DeviceMaxIDLength

// semanticVersion matches a version of semver.org 2.0.0.
var semanticVersion = regexp.MustCompile(`^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

func validateResourceSlice(slice, was *resourcev1.ResourceSlice) field.ErrorList {
	var old *resourcev1.ResourceSliceSpec
	if was != nil {
		old = &was.Spec
	}
	at, s := field.NewPath("spec"), &slice.Spec
	errs := podspec.CSIDriver(s.Driver, at.Child("driver"))
	errs = append(errs, pool(&s.Pool, at.Child("pool"))...)
	if old != nil {
		errs = append(errs, check.Immutable(s.Pool.Name, old.Pool.Name, at.Child("pool", "name"))...)
		errs = append(errs, check.Immutable(s.Driver, old.Driver, at.Child("driver"))...)
		errs = append(errs, check.Immutable(s.NodeName, old.NodeName, at.Child("nodeName"))...)
	}
	errs = append(errs, sliceNodes(s, at)...)
	errs = append(errs, check.Reject(s.SharedCounters != nil && s.Devices != nil, at, "",
		"only one of `sharedCounters` or `devices` is allowed")...)
	were := map[string]*resourcev1.Device{}
	for i := 0; old != nil && i < len(old.Devices); i++ {
		if d := &old.Devices[i]; were[d.Name] == nil {
			were[d.Name] = d
		}
	}
	errs = append(errs, distinct(s.Devices, mostDevices(s.Devices), at.Child("devices"),
		func(d *resourcev1.Device, at *field.Path) field.ErrorList {
			return validateDevice(d, were[d.Name], check.IsTrue(s.PerDeviceNodeSelection), at)
		}, func(d *resourcev1.Device) string { return d.Name })...)
	return append(errs, each(s.SharedCounters, resourcev1.ResourceSliceMaxCounterSets, at.Child("sharedCounters"),
		func(c *resourcev1.CounterSet, at *field.Path) field.ErrorList {
			return check.MaxItems(len(c.Counters), resourcev1.ResourceSliceMaxCountersPerCounterSet, at.Child("counters"))
		})...)
}

func pool(p *resourcev1.ResourcePool, at *field.Path) field.ErrorList {
	errs := poolName(p.Name, at.Child("name"))
	errs = append(errs, check.Reject(p.ResourceSliceCount <= 0, at.Child("resourceSliceCount"), p.ResourceSliceCount,
		check.NotPositiveText)...)
	return append(errs, check.Reject(p.Generation < 0, at.Child("generation"), p.Generation,
		"must be greater than or equal to zero")...)
}

// mostDevices returns the maximum number of devices in one object. It is lower if a device has taints, counters or
// attributes with lists.
func mostDevices(list []resourcev1.Device) int {
	for i := range list {
		d := &list[i]
		if len(d.Taints) > 0 || len(d.ConsumesCounters) > 0 {
			return resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
		}
		for _, a := range d.Attributes {
			if a.BoolValues != nil || a.IntValues != nil || a.StringValues != nil || a.VersionValues != nil {
				return resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
			}
		}
	}
	return resourcev1.ResourceSliceMaxDevices
}

// sliceNodes requires exactly one field that selects the nodes of the devices.
func sliceNodes(s *resourcev1.ResourceSliceSpec, at *field.Path) (errs field.ErrorList) {
	const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	errs, ways := nodeFields(
		s.NodeName, s.NodeSelector, s.AllNodes, "must be either unset or set to a non-empty string", true, at,
	)
	if p := s.PerDeviceNodeSelection; p != nil && *p {
		ways = append(ways, "`perDeviceNodeSelection`")
	} else if p != nil {
		errs = append(errs, field.Invalid(at.Child("perDeviceNodeSelection"), *p, "must be either unset or set to true"))
	}
	return append(errs, oneWay(ways, one, one+", but multiple fields are set", at)...)
}

// oneWay requires exactly one of the fields that select nodes.
func oneWay(ways []string, none, several string, at *field.Path) field.ErrorList {
	switch len(ways) {
	case 0:
		return field.ErrorList{field.Required(at, none)}
	case 1:
		return nil
	}
	return field.ErrorList{field.Invalid(at, "{"+strings.Join(ways, ", ")+"}", several)}
}

// nodeFields validates the node fields that slices and devices have in common, and returns those that are set. With
// single it requires a selector with one term.
func nodeFields(
	name *string, s *corev1.NodeSelector, all *bool, empty string, single bool, at *field.Path,
) (errs field.ErrorList, ways []string) {
	if name != nil && *name != "" {
		ways = append(ways, "`nodeName`")
		errs = append(errs, check.DNSSubdomain(*name, at.Child("nodeName"))...)
	} else if name != nil {
		errs = append(errs, field.Invalid(at.Child("nodeName"), *name, empty))
	}
	if s != nil {
		ways = append(ways, "`nodeSelector`")
		errs = append(errs, podspec.ValidateNodeSelector(s, false, at.Child("nodeSelector"))...)
		errs = append(errs, check.Reject(single && len(s.NodeSelectorTerms) != 1,
			at.Child("nodeSelector", "nodeSelectorTerms"), s.NodeSelectorTerms, "must have exactly one node selector term")...)
	}
	if all != nil && *all {
		ways = append(ways, "`allNodes`")
	} else if all != nil {
		errs = append(errs, field.Invalid(at.Child("allNodes"), *all, "must be either unset or set to true"))
	}
	return errs, ways
}

// validateDevice validates a device. It skips capacity and taints that the update does not change.
func validateDevice(d, old *resourcev1.Device, ownNodes bool, at *field.Path) field.ErrorList {
	errs := check.DNSLabel(d.Name, at.Child("name"))
	errs = append(errs, attributeCount(d, at)...)
	errs = append(errs, keyed(d.Attributes, at.Child("attributes"), deviceName, deviceAttribute)...)
	if old == nil || !apiequality.Semantic.DeepEqual(old.Capacity, d.Capacity) {
		validated := func(c resourcev1.DeviceCapacity, at *field.Path) field.ErrorList {
			return deviceCapacity(&c, check.IsTrue(d.AllowMultipleAllocations), at.Child("requestPolicy"))
		}
		errs = append(errs, keyed(d.Capacity, at.Child("capacity"), deviceName, validated)...)
	}
	if old == nil || !apiequality.Semantic.DeepEqual(old.Taints, d.Taints) {
		errs = append(errs, listed(d.Taints, resourcev1.DeviceTaintsMaxLength, at.Child("taints"), deviceTaint)...)
	}
	errs = append(errs, each(d.ConsumesCounters, resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice,
		at.Child("consumesCounters"), func(c *resourcev1.DeviceCounterConsumption, at *field.Path) field.ErrorList {
			return check.MaxItems(len(c.Counters), resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption,
				at.Child("counters"))
		})...)
	errs = append(errs, deviceNodes(d, ownNodes, at)...)
	return append(errs, bindingConditions(d.BindingConditions, d.BindingFailureConditions, at)...)
}

func attributeCount(d *resourcev1.Device, at *field.Path) (errs field.ErrorList) {
	total := len(d.Attributes) + len(d.Capacity)
	if most := resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice; total > most {
		errs = append(errs, field.Invalid(at, total,
			fmt.Sprintf("the total number of attributes and capacities must not exceed %d", most)))
	}
	values := 0
	for _, a := range d.Attributes {
		values += max(1, len(a.BoolValues)+len(a.IntValues)+len(a.StringValues)+len(a.VersionValues))
	}
	if most := resourcev1.ResourceSliceMaxAttributeValuesPerDevice; values > most {
		errs = append(errs, field.Invalid(at, values,
			fmt.Sprintf("the total number of attribute values must not exceed %d", most)))
	}
	return errs
}

// deviceNodes validates the fields of a device that select nodes. Only the devices of a slice with
// perDeviceNodeSelection (own) may have these fields.
func deviceNodes(d *resourcev1.Device, own bool, at *field.Path) field.ErrorList {
	if !own {
		if d.NodeName == nil && d.NodeSelector == nil && d.AllNodes == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(
			at, nil,
			"`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
		)}
	}
	const one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	errs, ways := nodeFields(d.NodeName, d.NodeSelector, d.AllNodes, "must not be empty", false, at)
	return append(errs, oneWay(ways, one, one, at)...)
}

func deviceAttribute(a resourcev1.DeviceAttribute, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Given(a.StringValue, at.Child("string"), attributeText)...)
	if a.VersionValue != nil {
		errs = append(errs, check.Reject(!semanticVersion.MatchString(*a.VersionValue), at.Child("version"), *a.VersionValue,
			"must be a string compatible with semver.org spec 2.0.0")...)
		errs = append(errs, attributeText(*a.VersionValue, at.Child("version"))...)
	}
	return errs
}

func attributeText(s string, at *field.Path) field.ErrorList {
	return check.MaxBytes(len(s), resourcev1.DeviceAttributeMaxValueLength, at)
}

func deviceTaint(t *resourcev1.DeviceTaint, at *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabelName(t.Key, at.Child("key"))
	return append(errs, check.LabelValue(t.Value, at.Child("value"))...)
}
