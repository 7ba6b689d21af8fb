package node

import (
	"testing"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestOrphanedPods runs testdata/podgc.
func TestOrphanedPods(t *testing.T) {
	workloadtest.Scenarios(t, "testdata/podgc",
		workloadtest.Options{Controllers: []workload.Controller{OrphanedPods()}})
}
