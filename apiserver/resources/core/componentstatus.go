package core

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// componentStatuses is the entry of ComponentStatus.
func componentStatuses() *entry.Resource {
	return &entry.Resource{
		Plural: "componentstatuses", New: entry.New[corev1.ComponentStatus],
		ShortNames: []string{"cs"},
		Served:     entry.Served{Verbs: []string{"get", "list"}},
		Storage:    entry.Storage{Virtual: true},
		Hooks:      entry.Hooks{Objects: componentStatusObjects},
		Table:      entry.TableOf(componentStatusColumns(), componentStatusCells),
	}
}

func componentStatusColumns() []entry.Column {
	return []entry.Column{
		entry.NameColumn,
		entry.Text("Status", "Status of the component conditions"),
		entry.Text("Message", "Message of the component conditions"),
		entry.Text("Error", "Error of the component conditions"),
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
