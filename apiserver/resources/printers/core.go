package printers

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func componentStatusColumns() []Column {
	return []Column{
		nameColumn,
		text("Status", "Status of the component conditions"),
		text("Message", "Message of the component conditions"),
		text("Error", "Error of the component conditions"),
	}
}

func componentStatusCells(c *corev1.ComponentStatus, _ time.Time) []any {
	for _, condition := range c.Conditions {
		if condition.Type != corev1.ComponentHealthy {
			continue
		}
		health := "Unhealthy"
		if condition.Status == corev1.ConditionTrue {
			health = "Healthy"
		}
		return []any{c.Name, health, condition.Message, condition.Error}
	}
	return []any{c.Name, "Unknown", "", ""}
}

func configMapColumns() []Column {
	return []Column{nameColumn, text("Data", corev1.ConfigMap{}.SwaggerDoc()["data"]), ageColumn}
}

func configMapCells(c *corev1.ConfigMap, now time.Time) []any {
	return []any{c.Name, int64(len(c.Data) + len(c.BinaryData)), age(&c.ObjectMeta, now)}
}

func namespaceColumns() []Column {
	return []Column{nameColumn, text("Status", "The status of the namespace"), ageColumn}
}

func namespaceCells(n *corev1.Namespace, now time.Time) []any {
	return []any{n.Name, string(n.Status.Phase), age(&n.ObjectMeta, now)}
}

func podTemplateColumns() []Column {
	return []Column{nameColumn, containersColumn, imagesColumn, text("Pod Labels", "The labels for the pod template.")}
}

func podTemplateCells(t *corev1.PodTemplate, _ time.Time) []any {
	names, images := containers(&t.Template.Spec)
	return []any{t.Name, names, images, labels.FormatLabels(t.Template.Labels)}
}

// containers returns the names and the images of a pod's containers, in their order.
func containers(s *corev1.PodSpec) (names, images string) {
	var n, i []string
	for _, c := range s.Containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

func replicationControllerColumns() []Column {
	spec, status := corev1.ReplicationControllerSpec{}.SwaggerDoc(), corev1.ReplicationControllerStatus{}.SwaggerDoc()
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

func replicationControllerCells(c *corev1.ReplicationController, now time.Time) []any {
	var names, images string
	if c.Spec.Template != nil {
		names, images = containers(&c.Spec.Template.Spec)
	}
	return []any{
		c.Name,
		int64(value(c.Spec.Replicas, 0)),
		int64(c.Status.Replicas),
		int64(c.Status.ReadyReplicas),
		age(&c.ObjectMeta, now),
		names,
		images,
		labels.FormatLabels(c.Spec.Selector),
	}
}

func resourceQuotaColumns() []Column {
	return []Column{
		nameColumn,
		text("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
		text("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node."),
		ageColumn,
	}
}

func resourceQuotaCells(q *corev1.ResourceQuota, now time.Time) []any {
	var requests, limits []string
	for _, name := range slices.Sorted(maps.Keys(q.Status.Hard)) {
		used, hard := q.Status.Used[name], q.Status.Hard[name]
		usage := string(name) + ": " + used.String() + "/" + hard.String()
		if strings.HasPrefix(string(name), "limits.") {
			limits = append(limits, usage)
		} else {
			requests = append(requests, usage)
		}
	}
	return []any{q.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), age(&q.ObjectMeta, now)}
}

func secretColumns() []Column {
	doc := corev1.Secret{}.SwaggerDoc()
	return []Column{nameColumn, text("Type", doc["type"]), text("Data", doc["data"]), ageColumn}
}

func secretCells(s *corev1.Secret, now time.Time) []any {
	return []any{s.Name, string(s.Type), int64(len(s.Data)), age(&s.ObjectMeta, now)}
}

func serviceAccountCells(a *corev1.ServiceAccount, now time.Time) []any {
	return []any{a.Name, age(&a.ObjectMeta, now)}
}
