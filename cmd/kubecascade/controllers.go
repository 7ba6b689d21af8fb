package main

import (
	"fmt"
	"slices"
	"strings"
)

// controllerNames are the names of the controllers, as in kube-controller-manager.
func controllerNames() []string {
	return append([]string{garbageCollector, namespaceController, volumeProtection, claimProtection, classProtection,
		resourceQuota,
		roleAggregation, policyStatus, accountController, certificatePublisher}, workloadNames()...)
}

// ofAccounts are the controllers that '*' includes only with the admission plugin ServiceAccount, whose pods need their
// objects: without it a new namespace stays empty.
var ofAccounts = []string{accountController, certificatePublisher}

// controllerManager is the program that the controllers belong to in a cluster; managedFields name it.
const controllerManager = "kube-controller-manager"

const (
	garbageCollector    = "garbage-collector-controller"
	namespaceController = "namespace-controller"
	volumeProtection    = "persistentvolume-protection-controller"
	claimProtection     = "persistentvolumeclaim-protection-controller"
	classProtection     = "volumeattributesclass-protection-controller"
	resourceQuota       = "resourcequota-controller"
	roleAggregation     = "clusterrole-aggregation-controller"
	policyStatus        = "validatingadmissionpolicy-status-controller"

	accountController    = "serviceaccount-controller"
	certificatePublisher = "root-ca-certificate-publisher-controller"
)

// noControllers is the value of --controllers for none of them. An empty value means the same, as for
// kube-controller-manager, but is easily lost in a shell or a manifest.
const noControllers = "none"

// selectControllers parses --controllers: the first word for a name counts, and '*' stands for all other names that are
// on by default (K cmd/kube-controller-manager: IsControllerEnabled). accounts says that those of service accounts are.
// absent are the selected names that only kube-controller-manager has.
func selectControllers(words []string, accounts bool) (on map[string]bool, absent []string, err error) {
	on = map[string]bool{}
	if len(words) == 1 && words[0] == noControllers {
		return on, nil, nil
	}
	mentioned := map[string]bool{}
	for _, w := range words {
		if w == "*" {
			continue
		}
		word, off := strings.CutPrefix(w, "-")
		name := controllerOf(word)
		switch {
		case w == noControllers:
			return nil, nil, fmt.Errorf("--controllers: %q can't be combined with %s", noControllers, without(words, w))
		case name == "":
			return nil, nil, fmt.Errorf("--controllers: unknown controller %q; valid are '*', '%s', %s, and without effect %s",
				word, noControllers, strings.Join(controllerNames(), ", "), strings.Join(absentControllers(), ", "))
		case mentioned[name]:
			continue
		}
		mentioned[name] = true
		switch here := slices.Contains(controllerNames(), name); {
		case here:
			on[name] = !off
		case !off:
			absent = append(absent, name)
		}
	}
	all := slices.Contains(words, "*")
	for _, name := range controllerNames() {
		if !mentioned[name] {
			on[name] = all && (accounts || !slices.Contains(ofAccounts, name))
		}
	}
	return on, absent, nil
}

// without lists the words other than w.
func without(words []string, w string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(words), func(s string) bool { return s == w }), ", ")
}
