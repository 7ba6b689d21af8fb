package controllers

import (
	"testing"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs the directories of testdata with one controller each.
func TestScenarios(t *testing.T) {
	for dir, c := range map[string]func() workload.Controller{"finishedjobs": finishedJobs, "podgc": orphanedPods} {
		t.Run(dir, func(t *testing.T) {
			workloadtest.Scenarios(t, "testdata/"+dir, workloadtest.Options{Controllers: []workload.Controller{c()}})
		})
	}
}
