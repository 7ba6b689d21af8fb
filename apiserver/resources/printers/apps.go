package printers

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func controllerRevisionColumns() []Column {
	return []Column{
		nameColumn,
		text("Controller", "Controller of the object"),
		text("Revision", appsv1.ControllerRevision{}.SwaggerDoc()["revision"]),
		ageColumn,
	}
}

func controllerRevisionCells(r *appsv1.ControllerRevision, now time.Time) []any {
	controller := none
	if ref := metav1.GetControllerOfNoCopy(r); ref != nil {
		gk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		controller = strings.ToLower(gk.String()) + "/" + ref.Name
	}
	return []any{r.Name, controller, r.Revision, age(&r.ObjectMeta, now)}
}

func daemonSetColumns() []Column {
	status := appsv1.DaemonSetStatus{}.SwaggerDoc()
	return []Column{
		nameColumn,
		integer("Desired", status["desiredNumberScheduled"]),
		integer("Current", status["currentNumberScheduled"]),
		integer("Ready", status["numberReady"]),
		integer("Up-to-date", status["updatedNumberScheduled"]),
		integer("Available", status["numberAvailable"]),
		text("Node Selector", corev1.PodSpec{}.SwaggerDoc()["nodeSelector"]),
		ageColumn,
		wide(containersColumn),
		wide(imagesColumn),
		wide(text("Selector", appsv1.DaemonSetSpec{}.SwaggerDoc()["selector"])),
	}
}

func daemonSetCells(d *appsv1.DaemonSet, now time.Time) []any {
	names, images := containers(&d.Spec.Template.Spec)
	return []any{
		d.Name,
		int64(d.Status.DesiredNumberScheduled),
		int64(d.Status.CurrentNumberScheduled),
		int64(d.Status.NumberReady),
		int64(d.Status.UpdatedNumberScheduled),
		int64(d.Status.NumberAvailable),
		labels.FormatLabels(d.Spec.Template.Spec.NodeSelector),
		age(&d.ObjectMeta, now),
		names,
		images,
		metav1.FormatLabelSelector(d.Spec.Selector),
	}
}

func deploymentColumns() []Column {
	status := appsv1.DeploymentStatus{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("Ready", "Number of the pod with ready state"),
		text("Up-to-date", status["updatedReplicas"]),
		text("Available", status["availableReplicas"]),
		ageColumn,
		wide(containersColumn),
		wide(imagesColumn),
		wide(text("Selector", appsv1.DeploymentSpec{}.SwaggerDoc()["selector"])),
	}
}

func deploymentCells(d *appsv1.Deployment, now time.Time) []any {
	names, images := containers(&d.Spec.Template.Spec)
	return []any{
		d.Name,
		fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, value(d.Spec.Replicas, 0)),
		int64(d.Status.UpdatedReplicas),
		int64(d.Status.AvailableReplicas),
		age(&d.ObjectMeta, now),
		names,
		images,
		deploymentSelector(d.Spec.Selector),
	}
}

// deploymentSelector differs from metav1.FormatLabelSelector, which the other kinds use, in that
// an empty selector prints nothing and a broken one "<invalid>".
func deploymentSelector(s *metav1.LabelSelector) string {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return "<invalid>"
	}
	return selector.String()
}

func replicaSetColumns() []Column {
	spec, status := appsv1.ReplicaSetSpec{}.SwaggerDoc(), appsv1.ReplicaSetStatus{}.SwaggerDoc()
	return []Column{
		nameColumn,
		integer("Desired", spec["replicas"]),
		integer("Current", status["replicas"]),
		integer("Ready", status["readyReplicas"]),
		ageColumn,
		wide(containersColumn),
		wide(imagesColumn),
		wide(text("Selector", spec["selector"])),
	}
}

func replicaSetCells(r *appsv1.ReplicaSet, now time.Time) []any {
	names, images := containers(&r.Spec.Template.Spec)
	return []any{
		r.Name,
		int64(value(r.Spec.Replicas, 0)),
		int64(r.Status.Replicas),
		int64(r.Status.ReadyReplicas),
		age(&r.ObjectMeta, now),
		names,
		images,
		metav1.FormatLabelSelector(r.Spec.Selector),
	}
}

func statefulSetColumns() []Column {
	return []Column{
		nameColumn,
		text("Ready", "Number of the pod with ready state"),
		ageColumn,
		wide(containersColumn),
		wide(imagesColumn),
	}
}

func statefulSetCells(s *appsv1.StatefulSet, now time.Time) []any {
	names, images := containers(&s.Spec.Template.Spec)
	return []any{
		s.Name,
		fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, value(s.Spec.Replicas, 0)),
		age(&s.ObjectMeta, now),
		names,
		images,
	}
}
