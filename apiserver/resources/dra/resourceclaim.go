package dra

import (
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func resourceClaims() *entry.Resource {
	return &entry.Resource{
		Plural: "resourceclaims", New: entry.New[resourcev1.ResourceClaim], Namespaced: true,
		Served: entry.Served{Optional: []entry.Version{
			entry.SameJSON[resourcev1.ResourceClaim, resourcev1beta2.ResourceClaim](resourcev1beta2.SchemeGroupVersion),
			v1beta1(entry.New[resourcev1beta1.ResourceClaim], ""),
		}},
		Strategy: entry.Strategy{
			Default: entry.Default(defaultResourceClaim),
			Prepare: entry.Change(func(c, old *resourcev1.ResourceClaim) {
				was := check.ValueOf(old)
				dropDerived(&c.Spec.Devices, &was.Spec.Devices)
			}),
			Validate: entry.ValidateChange(validateResourceClaim),
		},
		Delete:       entry.Deletion{Returned: true},
		Subresources: entry.StatusOf(keepDeviceStatus, validateResourceClaimStatus),
		Table:        resourceClaimTable(),
	}
}

// defaultResourceClaim sets the number of devices to one.
func defaultResourceClaim(c *resourcev1.ResourceClaim) {
	defaultDeviceClaim(&c.Spec.Devices)
	if a := c.Status.Allocation; a != nil {
		for i := range a.Devices.Results {
			defaultTolerations(a.Devices.Results[i].Tolerations)
		}
	}
}

// dropDerived removes the fields of DRADerivedAttributes, which is off (V-023).
var dropDerived = check.Gate[resourcev1.DeviceClaim](
	check.FieldsOf[resourcev1.ExactDeviceRequest]("DerivedAttributes"),
	check.FieldsOf[resourcev1.DeviceSubRequest]("DerivedAttributes"))

// dropSkipped removes the fields of DRAOptionalNodeOperations, which is off (V-023).
var dropSkipped = check.Gate[resourcev1.ResourceClaimStatus](
	check.FieldsOf[resourcev1.DeviceRequestAllocationResult]("SkipNodeOperations"))

// keepDeviceStatus restores metadata, and removes the status of devices that are no longer allocated.
func keepDeviceStatus(c, old *resourcev1.ResourceClaim) {
	metav1.ResetObjectMetaForStatus(c, old)
	dropSkipped(&c.Status, &old.Status)
	now, was := allocatedDevices(c.Status.Allocation), allocatedDevices(old.Status.Allocation)
	left := slices.DeleteFunc(slices.Clone(c.Status.Devices), func(d resourcev1.AllocatedDeviceStatus) bool {
		id := statusDevice(&d)
		return was[id] && !now[id]
	})
	if c.Status.Devices = left; len(left) == 0 {
		c.Status.Devices = nil
	}
}

func validateResourceClaim(c, old *resourcev1.ResourceClaim) field.ErrorList {
	if old != nil { // the declared rules reject all changes of the spec
		return nil
	}
	return deviceClaim(&c.Spec.Devices, field.NewPath("spec", "devices"))
}

// validateResourceClaimStatus validates the allocation and the reservations. Reservations require an allocation. An
// allocation is immutable until it is removed.
func validateResourceClaimStatus(c, old *resourcev1.ResourceClaim) field.ErrorList {
	at, s := field.NewPath("status"), &c.Status
	reserved := at.Child("reservedFor")
	errs := each(s.ReservedFor, resourcev1.ResourceClaimReservedForMaxSize, reserved, consumer)
	allocated := allocatedDevices(s.Allocation)
	errs = append(errs, each(s.Devices, len(s.Devices), at.Child("devices"),
		func(d *resourcev1.AllocatedDeviceStatus, at *field.Path) field.ErrorList {
			return deviceStatus(d, allocated, at)
		})...)
	switch {
	case len(s.ReservedFor) > 0 && s.Allocation == nil:
		errs = append(errs, field.Forbidden(reserved, "may not be specified when `allocated` is not set"))
	case c.DeletionTimestamp != nil && !sets.New(old.Status.ReservedFor...).HasAll(s.ReservedFor...):
		errs = append(errs, field.Forbidden(
			reserved, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
		))
	}
	if s.Allocation == nil || old.Status.Allocation != nil {
		return errs
	}
	return append(errs, allocation(s.Allocation, requestsOf(&c.Spec.Devices), at.Child("allocation"))...)
}

func consumer(r *resourcev1.ResourceClaimConsumerReference, at *field.Path) field.ErrorList {
	return check.RequireAll(at, "resource", r.Resource, "name", r.Name, "uid", string(r.UID))
}

// allocatedDevices returns an allocation's devices by deviceID.
func allocatedDevices(a *resourcev1.AllocationResult) map[string]bool {
	all := map[string]bool{}
	if a == nil {
		return all
	}
	for i := range a.Devices.Results {
		r := &a.Devices.Results[i]
		all[deviceID(r.Driver, r.Pool, r.Device, (*string)(r.ShareID))] = true
	}
	return all
}

func deviceID(driver, pool, device string, share *string) string {
	id := driver + "/" + pool + "/" + device
	if share != nil {
		id += "/" + *share
	}
	return id
}

func statusDevice(d *resourcev1.AllocatedDeviceStatus) string {
	return deviceID(d.Driver, d.Pool, d.Device, d.ShareID)
}

func allocation(a *resourcev1.AllocationResult, requests deviceRequests, at *field.Path) field.ErrorList {
	devices := at.Child("devices")
	errs := each(a.Devices.Results, resourcev1.AllocationResultsMaxSize, devices.Child("results"), requests.result)
	// This list has the configurations of both classes and claims, so its limit is twice that of a claim.
	errs = append(errs, each(a.Devices.Config, 2*resourcev1.DeviceConfigMaxSize, devices.Child("config"),
		func(c *resourcev1.DeviceAllocationConfiguration, at *field.Path) field.ErrorList {
			errs := requests.named(c.Requests, at.Child("requests"))
			return append(errs, deviceConfig(&c.DeviceConfiguration, false, at)...)
		})...)
	if a.NodeSelector != nil {
		errs = append(errs, podspec.ValidateNodeSelector(a.NodeSelector, false, at.Child("nodeSelector"))...)
	}
	return errs
}

func deviceStatus(d *resourcev1.AllocatedDeviceStatus, allocated map[string]bool, at *field.Path) field.ErrorList {
	errs := podspec.CSIDriver(d.Driver, at.Child("driver"))
	errs = append(errs, poolName(d.Pool, at.Child("pool"))...)
	errs = append(errs, check.DNSLabel(d.Device, at.Child("device"))...)
	if id := statusDevice(d); !allocated[id] {
		errs = append(errs, field.Invalid(at, id, "must be an allocated device in the claim"))
	}
	conditions := at.Child("conditions")
	errs = append(errs, check.MaxItems(len(d.Conditions), resourcev1.AllocatedDeviceStatusMaxConditions, conditions)...)
	errs = append(errs, v1validation.ValidateConditions(d.Conditions, conditions)...)
	if d.Data != nil && len(d.Data.Raw) > 0 {
		errs = append(errs, rawObject(*d.Data, false, resourcev1.AllocatedDeviceStatusDataMaxLength, at.Child("data"))...)
	}
	if d.NetworkData == nil {
		return errs
	}
	return append(errs, each(d.NetworkData.IPs, resourcev1.NetworkDeviceDataMaxIPs, at.Child("networkData", "ips"),
		func(address *string, at *field.Path) field.ErrorList {
			return utilvalidation.IsValidInterfaceAddress(at, *address)
		})...)
}

func resourceClaimTable() entry.Table {
	return entry.Listed([]entry.Column{
		entry.Text("State", "A summary of the current state (allocated, pending, reserved, etc.)."),
	}, func(c *resourcev1.ResourceClaim) []any {
		var states []string
		if c.DeletionTimestamp != nil {
			states = append(states, "deleted")
		}
		switch {
		case c.Status.Allocation == nil && c.DeletionTimestamp == nil:
			states = append(states, "pending")
		case c.Status.Allocation == nil:
		case len(c.Status.ReservedFor) > 0:
			states = append(states, "allocated", "reserved")
		default:
			states = append(states, "allocated")
		}
		return []any{strings.Join(states, ",")}
	})
}
