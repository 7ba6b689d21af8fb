package validation

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const maxDeviceKey = resourcev1.DeviceMaxDomainLength + 1 + resourcev1.DeviceMaxIDLength

// semanticVersion is that of semver.org 2.0.0.
var semanticVersion = regexp.MustCompile(`^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

func resourceSlice(s *resourcev1.ResourceSlice) field.ErrorList { return resourceSliceOver(s, nil) }

func resourceSliceUpdate(s, old *resourcev1.ResourceSlice) field.ErrorList {
	return resourceSliceOver(s, &old.Spec)
}

func resourceSliceOver(slice *resourcev1.ResourceSlice, old *resourcev1.ResourceSliceSpec) field.ErrorList {
	at, s := field.NewPath("spec"), &slice.Spec
	errs := csiDriver(s.Driver, at.Child("driver"))
	errs = append(errs, pool(&s.Pool, at.Child("pool"))...)
	if old != nil {
		errs = append(errs, immutable(s.Pool.Name, old.Pool.Name, at.Child("pool", "name"))...)
		errs = append(errs, immutable(s.Driver, old.Driver, at.Child("driver"))...)
		errs = append(errs, immutable(s.NodeName, old.NodeName, at.Child("nodeName"))...)
	}
	errs = append(errs, sliceNodes(s, at)...)
	if s.SharedCounters != nil && s.Devices != nil {
		errs = append(errs, field.Invalid(at, "", "only one of `sharedCounters` or `devices` is allowed"))
	}
	were := map[string]*resourcev1.Device{}
	for i := 0; old != nil && i < len(old.Devices); i++ {
		if d := &old.Devices[i]; were[d.Name] == nil {
			were[d.Name] = d
		}
	}
	errs = append(errs, distinct(s.Devices, mostDevices(s.Devices), at.Child("devices"),
		func(d *resourcev1.Device, at *field.Path) field.ErrorList {
			return device(d, were[d.Name], isTrue(s.PerDeviceNodeSelection), at)
		}, func(d *resourcev1.Device) string { return d.Name })...)
	return append(errs, distinct(s.SharedCounters, resourcev1.ResourceSliceMaxCounterSets, at.Child("sharedCounters"),
		func(c *resourcev1.CounterSet, at *field.Path) field.ErrorList {
			errs := counterSetName(c.Name, at.Child("name"))
			return append(errs, counters(c.Counters, resourcev1.ResourceSliceMaxCountersPerCounterSet, at.Child("counters"))...)
		}, func(c *resourcev1.CounterSet) string { return c.Name })...)
}

func pool(p *resourcev1.ResourcePool, at *field.Path) field.ErrorList {
	errs := poolName(p.Name, at.Child("name"))
	if p.ResourceSliceCount <= 0 {
		errs = append(errs, field.Invalid(at.Child("resourceSliceCount"), p.ResourceSliceCount, notPositiveText))
	}
	if p.Generation < 0 {
		errs = append(errs, field.Invalid(at.Child("generation"), p.Generation, "must be greater than or equal to zero"))
	}
	return errs
}

// mostDevices is how many devices may stand in one object: fewer where each takes more space.
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

// sliceNodes wants exactly one way to say from which nodes the devices can be reached.
func sliceNodes(s *resourcev1.ResourceSliceSpec, at *field.Path) (errs field.ErrorList) {
	const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	errs, ways := reach(s.NodeName, s.NodeSelector, s.AllNodes, "must be either unset or set to a non-empty string", true, at)
	if p := s.PerDeviceNodeSelection; p != nil && *p {
		ways = append(ways, "`perDeviceNodeSelection`")
	} else if p != nil {
		errs = append(errs, field.Invalid(at.Child("perDeviceNodeSelection"), *p, "must be either unset or set to true"))
	}
	switch len(ways) {
	case 0:
		errs = append(errs, field.Required(at, one))
	case 1:
	default:
		errs = append(errs, field.Invalid(at, "{"+strings.Join(ways, ", ")+"}", one+", but multiple fields are set"))
	}
	return errs
}

// reach judges the fields that slices and devices both have, and lists those that are set. single
// wants the selector to have one term.
func reach(name *string, s *corev1.NodeSelector, all *bool, empty string, single bool, at *field.Path) (errs field.ErrorList, ways []string) {
	if name != nil && *name != "" {
		ways = append(ways, "`nodeName`")
		errs = append(errs, nodeName(*name, at.Child("nodeName"))...)
	} else if name != nil {
		errs = append(errs, field.Invalid(at.Child("nodeName"), *name, empty))
	}
	if s != nil {
		ways = append(ways, "`nodeSelector`")
		errs = append(errs, nodeSelector(s, false, at.Child("nodeSelector"))...)
		if single && len(s.NodeSelectorTerms) != 1 {
			errs = append(errs, field.Invalid(at.Child("nodeSelector", "nodeSelectorTerms"), internal(s.NodeSelectorTerms), "must have exactly one node selector term"))
		}
	}
	if all != nil && *all {
		ways = append(ways, "`allNodes`")
	} else if all != nil {
		errs = append(errs, field.Invalid(at.Child("allNodes"), *all, "must be either unset or set to true"))
	}
	return errs, ways
}

func counterSetName(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return label(name, at)
}

func counters(m map[string]resourcev1.Counter, most int, at *field.Path) field.ErrorList {
	if len(m) == 0 {
		return field.ErrorList{field.Required(at, "")}
	}
	return keyed(m, most, utilvalidation.DNS1123LabelMaxLength, at, label,
		func(resourcev1.Counter, *field.Path) field.ErrorList { return nil })
}

// device tolerates capacity and taints that it had before.
func device(d, old *resourcev1.Device, ownNodes bool, at *field.Path) field.ErrorList {
	errs := label(d.Name, at.Child("name"))
	errs = append(errs, attributeCount(d, at)...)
	errs = append(errs, keyed(d.Attributes, -1, maxDeviceKey, at.Child("attributes"), deviceName, deviceAttribute)...)
	if old == nil || !apiequality.Semantic.DeepEqual(old.Capacity, d.Capacity) {
		judged := func(c resourcev1.DeviceCapacity, at *field.Path) field.ErrorList {
			return deviceCapacity(&c, isTrue(d.AllowMultipleAllocations), at.Child("requestPolicy"))
		}
		errs = append(errs, keyed(d.Capacity, -1, maxDeviceKey, at.Child("capacity"), deviceName, judged)...)
	}
	if old == nil || !apiequality.Semantic.DeepEqual(old.Taints, d.Taints) {
		errs = append(errs, listed(d.Taints, resourcev1.DeviceTaintsMaxLength, at.Child("taints"), deviceTaint)...)
	}
	errs = append(errs, distinct(d.ConsumesCounters, resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice, at.Child("consumesCounters"),
		func(c *resourcev1.DeviceCounterConsumption, at *field.Path) field.ErrorList {
			errs := counterSetName(c.CounterSet, at.Child("counterSet"))
			return append(errs, counters(c.Counters, resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption, at.Child("counters"))...)
		}, func(c *resourcev1.DeviceCounterConsumption) string { return c.CounterSet })...)
	errs = append(errs, deviceNodes(d, ownNodes, at)...)
	return append(errs, bindingConditions(d.BindingConditions, d.BindingFailureConditions, at)...)
}

func attributeCount(d *resourcev1.Device, at *field.Path) (errs field.ErrorList) {
	total := len(d.Attributes) + len(d.Capacity)
	if most := resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice; total > most {
		errs = append(errs, field.Invalid(at, total, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", most)))
	}
	values := 0
	for _, a := range d.Attributes {
		values += max(1, len(a.BoolValues)+len(a.IntValues)+len(a.StringValues)+len(a.VersionValues))
	}
	if most := resourcev1.ResourceSliceMaxAttributeValuesPerDevice; values > most {
		errs = append(errs, field.Invalid(at, values, fmt.Sprintf("the total number of attribute values must not exceed %d", most)))
	}
	return errs
}

// deviceNodes judges where a device can be reached, which its slice says unless it leaves it to each.
func deviceNodes(d *resourcev1.Device, own bool, at *field.Path) field.ErrorList {
	if !own {
		if d.NodeName == nil && d.NodeSelector == nil && d.AllNodes == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(at, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")}
	}
	const one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	errs, ways := reach(d.NodeName, d.NodeSelector, d.AllNodes, "must not be empty", false, at)
	switch len(ways) {
	case 0:
		errs = append(errs, field.Required(at, one))
	case 1:
	default:
		errs = append(errs, field.Invalid(at, "{"+strings.Join(ways, ", ")+"}", one))
	}
	return errs
}

func deviceAttribute(a resourcev1.DeviceAttribute, at *field.Path) (errs field.ErrorList) {
	values := 0
	if a.BoolValue != nil {
		values++
	}
	if a.IntValue != nil {
		values++
	}
	if a.StringValue != nil {
		values++
		errs = append(errs, attributeText(*a.StringValue, at.Child("string"))...)
	}
	if a.VersionValue != nil {
		values++
		if !semanticVersion.MatchString(*a.VersionValue) {
			errs = append(errs, field.Invalid(at.Child("version"), *a.VersionValue, "must be a string compatible with semver.org spec 2.0.0"))
		}
		errs = append(errs, attributeText(*a.VersionValue, at.Child("version"))...)
	}
	switch values {
	case 0:
		errs = append(errs, field.Invalid(at, "", "exactly one value must be specified"))
	case 1:
	default:
		errs = append(errs, field.Invalid(at, internal(a), "exactly one value must be specified"))
	}
	return errs
}

func attributeText(s string, at *field.Path) field.ErrorList {
	if len(s) <= resourcev1.DeviceAttributeMaxValueLength {
		return nil
	}
	return field.ErrorList{field.TooLong(at, "", resourcev1.DeviceAttributeMaxValueLength)}
}

func deviceTaint(t *resourcev1.DeviceTaint, at *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabelName(t.Key, at.Child("key"))
	if t.Value != "" {
		errs = append(errs, judge(t.Value, at.Child("value"), utilvalidation.IsValidLabelValue)...)
	}
	return append(errs, required(t.Effect, at.Child("effect"), deviceTaintEffects)...)
}
