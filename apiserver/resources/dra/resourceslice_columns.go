package dra

import (
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func resourceSliceColumns() []entry.Column {
	spec := resourcev1.ResourceSliceSpec{}.SwaggerDoc()
	return []entry.Column{
		entry.NameColumn,
		entry.Text("Node", spec["nodeName"]),
		entry.Text("Driver", spec["driver"]),
		entry.Text("Pool", resourcev1.ResourcePool{}.SwaggerDoc()["name"]),
		entry.AgeColumn,
	}
}

func resourceSliceCells(s *resourcev1.ResourceSlice, now time.Time) []any {
	return []any{
		s.Name, entry.ValueOr(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, entry.AgeOf(&s.ObjectMeta, now),
	}
}
