package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (e *explainer) namespace(o *Object) (reasons []*Reason) {
	for _, f := range o.SpecFinalizers {
		if f != kubernetes {
			reasons = append(reasons, e.reason(o, SpecFinalizer, "finalizer "+f+" in spec.finalizers, which another"+
				" component removes", componentRemedy, e.dropSpec(o, f, notDone)))
		}
	}
	if !slices.Contains(o.SpecFinalizers, kubernetes) {
		return reasons
	}
	reasons = append(reasons, e.failures(o)...)
	content, unlisted := e.content[o.Key], e.unlisted(o)
	switch {
	case len(content) > 0:
		first := e.pods(content)
		if len(first) == 0 {
			first = content
		}
		numbers := map[string]int{}
		for _, one := range content {
			numbers[one.Collection]++
		}
		r := e.reason(o, Content, count(len(content), "object")+" in it: "+counted(numbers, "%[2]d %[1]s"))
		reasons = append(reasons, e.below(r, first, e.explain))
	case len(reasons)+len(unlisted) == 0:
		text := "empty, and the namespace controller has not removed its finalizer"
		reasons = append(reasons, e.reason(o, ControllerSilent, text,
			advice("see that kube-controller-manager runs, and read the logs of namespace-controller"),
			e.dropSpec(o, kubernetes, notDone+"; objects that remain come back with a namespace of the same name")))
	}
	return append(reasons, unlisted...)
}

// failures returns the failures that the namespace controller reports (E-15).
func (e *explainer) failures(o *Object) (reasons []*Reason) {
	for _, c := range o.Conditions {
		switch {
		case c.Status != "True":
		case c.Type == "NamespaceDeletionDiscoveryFailure", c.Type == "NamespaceDeletionGroupVersionParsingFailure":
			text := "the namespace controller can't learn all resources: " + c.Message
			reasons = append(reasons, e.reason(o, DiscoveryFailure, text, e.repairAPIServices()...))
		case c.Type == "NamespaceDeletionContentFailure":
			text := "the namespace controller can't delete the content: " + c.Message
			reasons = append(reasons, e.reason(o, ContentFailure, text,
				advice("if an admission webhook or policy denies it, repair that or remove its configuration"),
				advice("if a right is missing, give it to the service account namespace-controller in kube-system")))
		}
	}
	return reasons
}

func (e *explainer) repairAPIServices() (remedies []Remedy) {
	for _, s := range e.c.Unavailable {
		ref := ObjectReference{
			APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Name: s.Name,
			resource: "apiservices.apiregistration.k8s.io",
		}
		remedies = append(remedies, advice("repair the server behind APIService "+s.Name+" ("+s.Message+")"),
			deletion(ref, "or remove the APIService, if the server is gone for good"))
	}
	if len(remedies) == 0 {
		return []Remedy{advice("look for the APIService that is not Available: kubectl get apiservices")}
	}
	return remedies
}

// unlisted returns a reason for each resource of which the namespace may have unknown objects.
func (e *explainer) unlisted(o *Object) (reasons []*Reason) {
	for _, name := range slices.Sorted(maps.Keys(e.resources)) {
		if r := e.resources[name]; r.Namespaced && !r.Fixed && r.Hides(o.Name) {
			text := "objects of " + name + ", if there are any, are not known: " + r.Unknown
			reasons = append(reasons, e.reason(o, Content, text, advice("list them, as a user who may")))
		}
	}
	return reasons
}

func (e *explainer) crd(o *Object, finalizer string) *Reason {
	instances := slices.SortedFunc(slices.Values(e.content[o.Key]), byKey)
	last := e.drop(o, finalizer, notDone+"; objects that remain stay in etcd")
	for _, c := range o.Conditions {
		if c.Type == "Terminating" && c.Status == "True" && c.Reason == "InstanceDeletionFailed" {
			r := e.reason(o, ContentFailure, "its objects can't be deleted: "+c.Message, advice("repair what the message"+
				" names: a conversion or admission webhook, or an object that can't be read"), last)
			return e.below(r, instances, e.explain)
		}
	}
	if r := e.resources[o.Name]; r != nil && r.Unknown != "" {
		return e.reason(o, Content, "custom resources, if there are any, are not known: "+r.Unknown,
			advice("list them, as a user who may"))
	}
	if len(instances) == 0 {
		return e.reason(o, ControllerSilent, "no custom resources are left, and the finalizer is not removed",
			advice("see that the API server that serves the CRD runs"), last)
	}
	return e.below(e.reason(o, Content, count(len(instances), "custom resource")), instances, e.explain)
}

// counted lists numbers by the names of resources, each in the format of the name and the number.
func counted(numbers map[string]int, format string) string {
	number := func(name string) string { return fmt.Sprintf(format, name, numbers[name]) }
	return strings.Join(texts(slices.Sorted(maps.Keys(numbers)), number), ", ")
}
