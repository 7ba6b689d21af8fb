package loopback

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// eventPath is the path of an Event, or of its collection if name is empty.
func eventPath(api *registry.Loopback, e *corev1.Event, name string) registry.Path {
	return registry.Path{Resource: api.Types().Lookup("", "v1", "events"), Namespace: e.Namespace, Name: name}
}

// createEvent stores a new Event.
func createEvent(ctx context.Context, api *registry.Loopback, e *corev1.Event) error {
	_, err := api.Create(ctx, eventPath(api, e, ""), e)
	return err
}

// countEvent increments the count of the stored Event of e's name.
func countEvent(ctx context.Context, api *registry.Loopback, e *corev1.Event, count func(stored *corev1.Event)) error {
	_, err := api.Change(ctx, eventPath(api, e, e.Name), func(old runtime.Object) (runtime.Object, error) {
		stored, ok := old.(*corev1.Event)
		if !ok {
			return nil, fmt.Errorf("counting an event: %T is none", old)
		}
		count(stored)
		return stored, nil
	})
	return err
}
