package cases

import (
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/conformance"
)

// Shorthands for the steps of cases.
type (
	// T is the running case.
	T = conformance.T
	// Case is an entry of the table.
	Case = conformance.Case
	// Object is an object that a case has created.
	Object = conformance.Object
)

// The pages of Kubernetes' documentation whose sentences the cases test.
const (
	concepts   = "https://kubernetes.io/docs/concepts/"
	collect    = concepts + "architecture/garbage-collection/"
	owners     = concepts + "overview/working-with-objects/owners-dependents/"
	finalize   = concepts + "overview/working-with-objects/finalizers/"
	spaces     = concepts + "overview/working-with-objects/namespaces/"
	cascading  = "https://kubernetes.io/docs/tasks/administer-cluster/use-cascading-deletion/"
	options    = "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/delete-options/"
	apiPage    = "https://kubernetes.io/docs/reference/using-api/api-concepts/"
	hookPage   = "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/"
	policyPage = "https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/"
	jobPage    = concepts + "workloads/controllers/job/"
	customs    = "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/"
)

// All returns the cases in the order in which they are listed and started.
func All() []Case {
	return slices.Concat(background(), foreground(), orphan(), legacy(), policies(), severalOwners(), references(),
		clusterScoped(), cycles(), finalizers(), repeats(), collections(), namespaces(), events(), custom(), admission(),
		responses(), jobs())
}

// prove returns a case of a group. The rules are IDs, separated by spaces. needs are added to the group's needs.
func prove(name string, run func(*T), rules, sentence string, needs ...conformance.Need) Case {
	c := Case{Name: name, Run: run, Rules: strings.Fields(rules), Proves: sentence}
	for _, n := range needs {
		c.Needs |= n
	}
	return c
}

// group sets the group's name, page and needs in its cases.
func group(name, docs string, needs conformance.Need, entries ...Case) []Case {
	for i := range entries {
		e := &entries[i]
		e.Name, e.Docs, e.Needs = name+"/"+e.Name, docs, e.Needs|needs
	}
	return entries
}
