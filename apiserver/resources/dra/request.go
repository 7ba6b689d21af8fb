package dra

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func defaultDeviceClaim(c *resourcev1.DeviceClaim) {
	for i := range c.Requests {
		if r := c.Requests[i].Exactly; r != nil {
			defaultRequest(&r.AllocationMode, &r.Count)
			defaultTolerations(r.Tolerations)
		}
		for j := range c.Requests[i].FirstAvailable {
			r := &c.Requests[i].FirstAvailable[j]
			defaultRequest(&r.AllocationMode, &r.Count)
			defaultTolerations(r.Tolerations)
		}
	}
}

func defaultRequest(mode *resourcev1.DeviceAllocationMode, count *int64) {
	check.FillDefault(mode, resourcev1.DeviceAllocationModeExactCount)
	if *mode == resourcev1.DeviceAllocationModeExactCount {
		check.FillDefault(count, 1)
	}
}

func defaultTolerations(list []resourcev1.DeviceToleration) {
	for i := range list {
		check.FillDefault(&list[i].Operator, resourcev1.DeviceTolerationOpEqual)
	}
}

func deviceClaim(c *resourcev1.DeviceClaim, at *field.Path) field.ErrorList {
	requests := requestsOf(c)
	errs := each(c.Requests, resourcev1.DeviceRequestsMaxSize, at.Child("requests"), deviceRequest)
	errs = append(errs, each(c.Constraints, resourcev1.DeviceConstraintsMaxSize, at.Child("constraints"),
		requests.constraint)...)
	return append(errs, each(c.Config, resourcev1.DeviceConfigMaxSize, at.Child("config"),
		func(c *resourcev1.DeviceClaimConfiguration, at *field.Path) field.ErrorList {
			errs := requests.named(c.Requests, at.Child("requests"))
			return append(errs, deviceConfig(&c.DeviceConfiguration, false, at)...)
		})...)
}

// deviceRequests maps a claim's requests to the names of their alternatives.
type deviceRequests map[string]map[string]bool

// named requires names of requests. Each may be followed by the name of an alternative.
func (r deviceRequests) named(names []string, at *field.Path) field.ErrorList {
	return each(names, resourcev1.DeviceRequestsMaxSize, at,
		func(name *string, at *field.Path) field.ErrorList { return r.name(*name, at) })
}

func (r deviceRequests) name(name string, at *field.Path) (errs field.ErrorList) {
	unknown := field.Invalid(
		at, name, "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
	)
	parts := strings.Split(name, "/")
	if len(parts) > 2 {
		return field.ErrorList{unknown}
	}
	for _, part := range parts {
		errs = append(errs, check.DNSLabel(part, at)...)
	}
	alternatives, known := r[parts[0]]
	if !known || len(parts) == 2 && !alternatives[parts[1]] {
		errs = append(errs, unknown)
	}
	return errs
}

func (r deviceRequests) constraint(c *resourcev1.DeviceConstraint, at *field.Path) field.ErrorList {
	errs := r.named(c.Requests, at.Child("requests"))
	switch {
	case c.MatchAttribute != nil:
		return append(errs, attributeName(*c.MatchAttribute, at.Child("matchAttribute"))...)
	case c.DistinctAttribute != nil:
		return append(errs, attributeName(*c.DistinctAttribute, at.Child("distinctAttribute"))...)
	}
	return append(errs, field.Required(at,
		`exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`))
}

// attributeName rejects a name with more than one slash, which the declared format accepts.
func attributeName(name resourcev1.FullyQualifiedName, at *field.Path) field.ErrorList {
	if strings.Count(string(name), "/") > 1 {
		return deviceName(resourcev1.QualifiedName(name), at)
	}
	return nil
}

func (r deviceRequests) result(d *resourcev1.DeviceRequestAllocationResult, at *field.Path) field.ErrorList {
	errs := r.name(d.Request, at.Child("request"))
	errs = append(errs, emptyDriver(d.Driver, at.Child("driver"))...)
	errs = append(errs, check.DNSLabel(d.Device, at.Child("device"))...)
	errs = append(errs, bindingConditions(d.BindingConditions, d.BindingFailureConditions, at)...)
	return append(errs, deviceTolerations(d.Tolerations, at)...)
}

func requestsOf(c *resourcev1.DeviceClaim) deviceRequests {
	all := deviceRequests{}
	for i := range c.Requests {
		alternatives := map[string]bool{}
		for j := range c.Requests[i].FirstAvailable {
			alternatives[c.Requests[i].FirstAvailable[j].Name] = true
		}
		all[c.Requests[i].Name] = alternatives
	}
	return all
}

func deviceRequest(r *resourcev1.DeviceRequest, at *field.Path) field.ErrorList {
	const one = "exactly one of `exactly` or `firstAvailable` is required"
	errs := check.DNSLabel(r.Name, at.Child("name"))
	switch alternatives := len(r.FirstAvailable) > 0; {
	case !alternatives && r.Exactly == nil:
		return append(errs, field.Required(at, one))
	case alternatives && r.Exactly != nil:
		return append(errs, field.Invalid(at, nil, one+", but multiple fields are set"))
	case alternatives:
		return append(errs, each(r.FirstAvailable, resourcev1.FirstAvailableDeviceRequestMaxSize,
			at.Child("firstAvailable"), alternative)...)
	}
	e, at := r.Exactly, at.Child("exactly")
	errs = append(errs, check.Needed(e.DeviceClassName, at.Child("deviceClassName"), check.DNSSubdomain)...)
	errs = append(errs, selectors(e.Selectors, false, at.Child("selectors"))...)
	errs = append(errs, deviceCount(e.AllocationMode, e.Count, at.Child("count"))...)
	return append(errs, deviceTolerations(e.Tolerations, at)...)
}

func alternative(s *resourcev1.DeviceSubRequest, at *field.Path) field.ErrorList {
	errs := check.DNSLabel(s.Name, at.Child("name"))
	errs = append(errs, selectors(s.Selectors, false, at.Child("selectors"))...)
	errs = append(errs, deviceCount(s.AllocationMode, s.Count, at.Child("count"))...)
	return append(errs, deviceTolerations(s.Tolerations, at)...)
}

func deviceCount(mode resourcev1.DeviceAllocationMode, count int64, at *field.Path) field.ErrorList {
	switch {
	case mode == resourcev1.DeviceAllocationModeAll && count != 0:
		return field.ErrorList{
			field.Invalid(at, count, fmt.Sprintf("must not be specified when allocationMode is '%s'", mode))}
	case mode == resourcev1.DeviceAllocationModeExactCount && count <= 0:
		return field.ErrorList{field.Invalid(at, count, check.NotPositiveText)}
	}
	return nil
}
