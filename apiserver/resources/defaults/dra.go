package defaults

import (
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ResourceClaim asks for one device where it doesn't say how many.
func ResourceClaim(c *resourcev1.ResourceClaim) {
	deviceClaim(&c.Spec.Devices)
	if a := c.Status.Allocation; a != nil {
		for i := range a.Devices.Results {
			tolerations(a.Devices.Results[i].Tolerations)
		}
	}
}

// ResourceClaimTemplate fills in the claims that are made from it.
func ResourceClaimTemplate(t *resourcev1.ResourceClaimTemplate) { deviceClaim(&t.Spec.Spec.Devices) }

func deviceClaim(c *resourcev1.DeviceClaim) {
	for i := range c.Requests {
		if r := c.Requests[i].Exactly; r != nil {
			request(&r.AllocationMode, &r.Count)
			tolerations(r.Tolerations)
		}
		for j := range c.Requests[i].FirstAvailable {
			r := &c.Requests[i].FirstAvailable[j]
			request(&r.AllocationMode, &r.Count)
			tolerations(r.Tolerations)
		}
	}
}

func request(mode *resourcev1.DeviceAllocationMode, count *int64) {
	fill(mode, resourcev1.DeviceAllocationModeExactCount)
	if *mode == resourcev1.DeviceAllocationModeExactCount {
		fill(count, 1)
	}
}

func tolerations(list []resourcev1.DeviceToleration) {
	for i := range list {
		fill(&list[i].Operator, resourcev1.DeviceTolerationOpEqual)
	}
}

// ResourceSlice says of taints without a time that they were added just now.
func ResourceSlice(s *resourcev1.ResourceSlice) { taintDevices(s, time.Now()) }

func taintDevices(s *resourcev1.ResourceSlice, now time.Time) {
	for i := range s.Spec.Devices {
		taints := s.Spec.Devices[i].Taints
		for j := range taints {
			set(&taints[j].TimeAdded, metav1.NewTime(now.Truncate(time.Second)))
		}
	}
}
