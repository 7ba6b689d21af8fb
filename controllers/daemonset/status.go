package daemonset

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// status returns the set with its new status; nil if it is the same
// (daemon_controller.go: updateDaemonSetStatus).
func (s *pass) status() workload.Object {
	next := s.set.DeepCopy()
	out := &next.Status
	out.ObservedGeneration = max(s.set.Generation, out.ObservedGeneration)
	out.DesiredNumberScheduled, out.CurrentNumberScheduled, out.NumberMisscheduled = 0, 0, 0
	out.NumberReady, out.NumberAvailable, out.UpdatedNumberScheduled = 0, 0, 0
	for _, n := range s.nodes {
		pods := s.on[n.Name]
		switch {
		case !s.want[n.Name]:
			if len(pods) > 0 {
				out.NumberMisscheduled++
			}
			continue
		case len(pods) > 0:
			out.CurrentNumberScheduled++
			if workload.IsReady(pods[0]) {
				out.NumberReady++
				if s.available(pods[0]) {
					out.NumberAvailable++
				}
			}
			if s.updated(pods[0]) {
				out.UpdatedNumberScheduled++
			}
		}
		out.DesiredNumberScheduled++
	}
	out.NumberUnavailable = out.DesiredNumberScheduled - out.NumberAvailable
	if apiequality.Semantic.DeepEqual(out, &s.set.Status) {
		return nil
	}
	return next
}
