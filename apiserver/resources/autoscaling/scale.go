package autoscaling

import (
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/printing"
)

// ScaleTable is the table of Scale, the kind of scale subresources.
func ScaleTable() entry.Table { return printing.Table(scaleColumns(), scaleCells) }

func scaleColumns() []entry.Column {
	// Unlike elsewhere, the name has no format here.
	return []entry.Column{
		printing.Text("Name", printing.MetaDocs["name"]),
		printing.Integer("Desired", autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"]),
		printing.Integer("Available", autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]),
		printing.AgeColumn,
	}
}

func scaleCells(s *autoscalingv1.Scale, now time.Time) []any {
	return []any{s.Name, int64(s.Spec.Replicas), int64(s.Status.Replicas), printing.AgeOf(&s.ObjectMeta, now)}
}
