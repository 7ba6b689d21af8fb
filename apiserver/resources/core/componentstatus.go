package core

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func componentStatuses() *entry.Resource {
	return &entry.Resource{
		Plural: "componentstatuses", New: entry.New[corev1.ComponentStatus],
		ShortNames: []string{"cs"},
		Served:     entry.Served{Verbs: []string{"get", "list"}},
		Storage:    entry.Storage{Virtual: true},
		Hooks:      entry.Hooks{Objects: componentStatusObjects},
		Table: entry.Printed([]entry.Column{
			entry.NameColumn,
			entry.Text("Status", "Status of the component conditions"),
			entry.Text("Message", "Message of the component conditions"),
			entry.Text("Error", "Error of the component conditions"),
		}, componentStatusCells),
	}
}

func componentStatusCells(c *corev1.ComponentStatus) []any {
	for _, condition := range c.Conditions {
		if condition.Type != corev1.ComponentHealthy {
			continue
		}
		health := "Unhealthy"
		if condition.Status == corev1.ConditionTrue {
			health = "Healthy"
		}
		return []any{health, condition.Message, condition.Error}
	}
	return []any{"Unknown", "", ""}
}

// componentStatusObjects returns ComponentStatuses, which are not stored.
var componentStatusObjects = entry.Objects{List: listComponents, NotFound: noComponent}

// listComponents returns the ComponentStatus of etcd, the only component that is not part of the server.
func listComponents(ctx context.Context, s entry.Server, _, _ string) ([]entry.Object, error) {
	c := &corev1.ComponentStatus{
		TypeMeta:   metav1.TypeMeta{Kind: "ComponentStatus", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: "etcd-0"},
		Conditions: []corev1.ComponentCondition{
			{Type: corev1.ComponentHealthy, Status: corev1.ConditionTrue, Message: "ok"},
		},
	}
	if err := s.Ping(ctx); err != nil {
		c.Conditions[0] = corev1.ComponentCondition{
			Type: corev1.ComponentHealthy, Status: corev1.ConditionFalse, Error: err.Error()}
	}
	return []entry.Object{c}, nil
}

func noComponent(_, name string) error {
	//lint:ignore ST1005 clients see this message (0-10)
	return fmt.Errorf("Component not found: %s", name)
}
