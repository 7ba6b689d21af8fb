package main

import (
	"fmt"
	"slices"
	"strings"
)

// controllerNames are those of kube-controller-manager, in order.
func controllerNames() []string {
	return append([]string{garbageCollector, namespaceController, volumeProtection, claimProtection, classProtection, resourceQuota,
		roleAggregation, accountController, certificatePublisher}, workloadNames()...)
}

// ofAccounts are the controllers that '*' stands for only with the admission plugin ServiceAccount, whose
// pods need what they make: without it a new namespace stays as empty as whoever made it expects.
var ofAccounts = []string{accountController, certificatePublisher}

// controllerManager is the program that the controllers are a part of on a cluster; managedFields
// name it.
const controllerManager = "kube-controller-manager"

const (
	garbageCollector    = "garbage-collector-controller"
	namespaceController = "namespace-controller"
	volumeProtection    = "persistentvolume-protection-controller"
	claimProtection     = "persistentvolumeclaim-protection-controller"
	classProtection     = "volumeattributesclass-protection-controller"
	resourceQuota       = "resourcequota-controller"
	roleAggregation     = "clusterrole-aggregation-controller"

	accountController    = "serviceaccount-controller"
	certificatePublisher = "root-ca-certificate-publisher-controller"
)

// selectControllers reads --controllers: the last word on a name counts, and '*' stands for the names that
// aren't mentioned, if they are on by default (K cmd/kube-controller-manager: IsControllerEnabled). accounts
// says that those of service accounts are.
func selectControllers(words []string, accounts bool) (map[string]bool, error) {
	on, all := map[string]bool{}, false
	mentioned := map[string]bool{}
	for _, w := range words {
		if w == "*" {
			all = true
			continue
		}
		name, off := strings.CutPrefix(w, "-")
		if !slices.Contains(controllerNames(), name) {
			return nil, fmt.Errorf("--controllers: %q is not known; there are %s", name, strings.Join(controllerNames(), ", "))
		}
		on[name], mentioned[name] = !off, true
	}
	for _, name := range controllerNames() {
		if !mentioned[name] {
			on[name] = all && (accounts || !slices.Contains(ofAccounts, name))
		}
	}
	return on, nil
}
