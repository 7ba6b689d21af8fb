package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// WarnOfAnnotations adds warnings of annotations to nodes, pods and the kinds that have templates for them: a
// controller creates the pods of a Deployment, and shows no warnings. warn returns the messages for annotations that
// were not there before.
func WarnOfAnnotations(all []*Resource, warn func(annotations, before map[string]string) []string) {
	for _, r := range all {
		empty := r.New()
		_, optional := empty.(*corev1.ReplicationController) // its template is a pointer
		if annotations, _ := podAnnotations(empty); annotations == nil && !optional {
			continue
		}
		others := r.Strategy.Warnings
		r.Strategy.Warnings = func(obj, old runtime.Object) (out []string) {
			if others != nil {
				out = others(obj, old)
			}
			now, at := podAnnotations(obj)
			if now == nil {
				return out
			}
			var before map[string]string
			if then, _ := podAnnotations(old); then != nil {
				before = *then
			}
			for _, message := range warn(*now, before) {
				out = append(out, at+message)
			}
			return out
		}
	}
}

// podAnnotations are the annotations of a node, a pod or the template in the object, with the path of the template; nil
// if there is none.
func podAnnotations(o runtime.Object) (annotations *map[string]string, at string) {
	switch o := o.(type) {
	case *corev1.Pod:
		return &o.Annotations, ""
	case *corev1.Node:
		return &o.Annotations, ""
	}
	if t := PodTemplate(o); t != nil {
		return &t.Annotations, "template."
	}
	return nil, ""
}
