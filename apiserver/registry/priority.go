package registry

import (
	"context"

	schedulingv1 "k8s.io/api/scheduling/v1"
)

// priorityClasses returns every priority class (admission.Priority).
func (s *Registry) priorityClasses(ctx context.Context) ([]*schedulingv1.PriorityClass, error) {
	return stored[*schedulingv1.PriorityClass](ctx, s, s.Types.Lookup(schedulingv1.GroupName, "v1", "priorityclasses"), "")
}
