package controllers

import (
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs the directories of testdata.
func TestScenarios(t *testing.T) {
	for dir, controllers := range map[string][]workload.Controller{
		"finishedjobs": {finishedJobs()},
		"serviceips":   {serviceRanges(), clusterIPs(), leakedAddresses()},
	} {
		t.Run(dir, func(t *testing.T) {
			workloadtest.Scenarios(t, "testdata/"+dir, workloadtest.Options{Controllers: controllers})
		})
	}
}

// TestPauseOfClusterObjectsIsLimited: objects that every cluster has return this soon after the last failure.
func TestPauseOfClusterObjectsIsLimited(t *testing.T) {
	for _, c := range []struct {
		controller workload.Controller
		want       time.Duration
	}{
		{keepSystemNamespaces(), time.Minute}, // E-06
		{defaultAccounts(), time.Minute},
		{rootCertificates(""), time.Minute},
		{aggregatedRoles(), time.Minute},
		{flowConditions(nil), time.Minute},
		{(&apiServices{}).controller(), 30 * time.Second},
	} {
		if c.controller.Most != c.want {
			t.Errorf("%s: %v", c.controller.Name, c.controller.Most)
		}
	}
}
