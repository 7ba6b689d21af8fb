package printers

import (
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
)

func deviceClassCells(c *resourcev1.DeviceClass, now time.Time) []any {
	return []any{c.Name, age(&c.ObjectMeta, now)}
}

func resourceClaimColumns() []Column {
	return []Column{
		nameColumn,
		text("State", "A summary of the current state (allocated, pending, reserved, etc.)."),
		ageColumn,
	}
}

func resourceClaimCells(c *resourcev1.ResourceClaim, now time.Time) []any {
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
	return []any{c.Name, strings.Join(states, ","), age(&c.ObjectMeta, now)}
}

func resourceClaimTemplateCells(t *resourcev1.ResourceClaimTemplate, now time.Time) []any {
	return []any{t.Name, age(&t.ObjectMeta, now)}
}

func resourceSliceColumns() []Column {
	spec := resourcev1.ResourceSliceSpec{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("Node", spec["nodeName"]),
		text("Driver", spec["driver"]),
		text("Pool", resourcev1.ResourcePool{}.SwaggerDoc()["name"]),
		ageColumn,
	}
}

func resourceSliceCells(s *resourcev1.ResourceSlice, now time.Time) []any {
	return []any{s.Name, value(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, age(&s.ObjectMeta, now)}
}
