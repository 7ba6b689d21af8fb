package core

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// componentStatusObjects are the objects of componentstatuses.
var componentStatusObjects = entry.Objects{List: listComponents, NotFound: noComponent}

// listComponents returns the health of etcd, the only component besides the server itself.
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
