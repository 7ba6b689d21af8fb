package ttl

import (
	"testing"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs testdata.
func TestScenarios(t *testing.T) {
	workloadtest.Scenarios(t, "testdata", workloadtest.Options{Controllers: []workload.Controller{New()}})
}
