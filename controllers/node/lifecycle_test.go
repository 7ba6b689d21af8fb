package node

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestTaintsFollowConditionsOfNodes runs testdata/lifecycle.
func TestTaintsFollowConditionsOfNodes(t *testing.T) {
	workloadtest.Scenarios(t, "testdata/lifecycle",
		workloadtest.Options{Controllers: []workload.Controller{Lifecycle()},
			Print: func(o workload.Object) string {
				s := o.GetName()
				for _, t := range o.(*corev1.Node).Spec.Taints {
					s += fmt.Sprintf(" %s=%s:%s", t.Key, t.Value, t.Effect)
				}
				return s
			}})
}
