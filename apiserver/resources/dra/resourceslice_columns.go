package dra

import (
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/printing"
)

func resourceSliceColumns() []entry.Column {
	spec := resourcev1.ResourceSliceSpec{}.SwaggerDoc()
	return []entry.Column{
		printing.NameColumn,
		printing.Text("Node", spec["nodeName"]),
		printing.Text("Driver", spec["driver"]),
		printing.Text("Pool", resourcev1.ResourcePool{}.SwaggerDoc()["name"]),
		printing.AgeColumn,
	}
}

func resourceSliceCells(s *resourcev1.ResourceSlice, now time.Time) []any {
	return []any{
		s.Name, printing.Value(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, printing.AgeOf(&s.ObjectMeta, now),
	}
}
