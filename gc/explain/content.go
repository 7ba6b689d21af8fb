package explain

import (
	"fmt"
	"maps"
	"slices"
)

// namespace explains a namespace that is being deleted.
func (e *explainer) namespace(o *Object) (reasons []*Reason) {
	for i, f := range o.Namespace.Finalizers {
		if f != kubernetes {
			reasons = append(reasons, e.reason(o, SpecFinalizer, "finalizer "+f+" in spec.finalizers, which another"+
				" component removes", Remedy{Text: "see that the component that sets the finalizer runs, and read its logs"},
				drop(e.ref(o), specFinalizersList, i, f)))
		}
	}
	if !slices.Contains(o.Namespace.Finalizers, kubernetes) {
		return reasons
	}
	reasons = append(reasons, e.failures(o)...)
	content := e.namespaces[o.Name]
	last := drop(e.ref(o), specFinalizersList, slices.Index(o.Namespace.Finalizers, kubernetes), kubernetes)
	last.Text += "; objects that remain come back with a namespace of the same name"
	if len(content) > 0 {
		reasons = append(reasons, e.below(e.reason(o, Content, count(len(content), "object")+" in it: "+byResource(content)),
			e.remaining(o.Name)))
	} else if len(reasons) == 0 && len(e.unlisted(o)) == 0 {
		reasons = append(reasons, e.reason(o, ControllerSilent, "empty, and the namespace controller has not removed"+
			" its finalizer", Remedy{Text: "see that kube-controller-manager runs, and read the logs of namespace-controller"},
			last))
	}
	return append(reasons, e.unlisted(o)...)
}

// remaining are the objects that keep a namespace now: its pods, or else all.
func (e *explainer) remaining(namespace string) []*Object {
	if pods := e.pods(namespace); len(pods) > 0 {
		return pods
	}
	return e.namespaces[namespace]
}

// failures are what the namespace controller reports (E-15).
func (e *explainer) failures(o *Object) (reasons []*Reason) {
	for _, c := range o.Namespace.Conditions {
		if c.Status != "True" {
			continue
		}
		switch c.Type {
		case "NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure":
			r := e.reason(o, DiscoveryFailure, "the namespace controller can't learn all resources: "+c.Message)
			for _, s := range e.c.Unavailable {
				r.Remedies = append(r.Remedies,
					Remedy{Text: fmt.Sprintf("repair the server behind APIService %s (%s)", s.Name, s.Message)},
					deletion(apiService(s.Name), "or remove the APIService, if the server is gone for good"))
			}
			if len(r.Remedies) == 0 {
				r.Remedies = []Remedy{{Text: "look for the APIService that is not Available: kubectl get apiservices"}}
			}
			reasons = append(reasons, r)
		case "NamespaceDeletionContentFailure":
			reasons = append(
				reasons,
				e.reason(o, ContentFailure, "the namespace controller can't delete the content: "+c.Message,
					Remedy{Text: "if an admission webhook or policy denies it, repair that or remove its configuration"},
					Remedy{Text: "if a right is missing, give it to the service account namespace-controller in kube-system"}),
			)
		}
	}
	return reasons
}

// unlisted are resources of which the namespace may have objects that aren't known.
func (e *explainer) unlisted(o *Object) (reasons []*Reason) {
	for _, name := range slices.Sorted(maps.Keys(e.resources)) {
		if r := e.resources[name]; r.Namespaced && r.Hides(o.Name) {
			reasons = append(
				reasons,
				e.reason(o, Content, fmt.Sprintf("objects of %s, if there are any, are not known: %s", name,
					r.Unknown), Remedy{Text: "ask as a user who may list them"}),
			)
		}
	}
	return reasons
}

// crd explains a CustomResourceDefinition that is being deleted.
func (e *explainer) crd(o *Object, finalizer string) *Reason {
	var instances []*Object
	for _, p := range e.w.sorted(func(p *Object) bool { return p.Collection == o.defines() }) {
		instances = append(instances, e.keys[p.Key])
	}
	last := drop(e.ref(o), finalizersList, slices.Index(o.Finalizers, finalizer), finalizer)
	last.Text += "; objects that remain stay in etcd"
	if o.CRD != nil {
		for _, c := range o.CRD.Conditions {
			if c.Type == "Terminating" && c.Status == "True" && c.Reason == "InstanceDeletionFailed" {
				return e.below(e.reason(o, ContentFailure, "its objects can't be deleted: "+c.Message,
					Remedy{Text: "repair what the message names: a conversion or admission webhook, or an object that can't be read"},
					last), instances)
			}
		}
	}
	if r := e.resources[o.defines()]; r != nil && r.Unknown != "" {
		return e.reason(o, Content, "custom resources, if there are any, are not known: "+r.Unknown,
			Remedy{Text: "ask as a user who may list them"})
	}
	if len(instances) == 0 {
		return e.reason(o, ControllerSilent, "no custom resources are left, and the finalizer is not removed",
			Remedy{Text: "see that the API server that serves the CRD runs"}, last)
	}
	return e.below(e.reason(o, Content, count(len(instances), "custom resource")), instances)
}

// byResource counts objects.
func byResource(objects []*Object) string {
	counts := map[string]int{}
	for _, o := range objects {
		counts[o.Collection]++
	}
	text := ""
	for i, name := range slices.Sorted(maps.Keys(counts)) {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", counts[name], name)
	}
	return text
}

func apiService(name string) ObjectReference {
	return ObjectReference{
		APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Name: name,
		resource: "apiservices.apiregistration.k8s.io",
	}
}
