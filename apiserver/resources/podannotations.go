package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// WarnOfAnnotations adds warnings for annotations to the hooks of nodes, pods and kinds with pod templates. Templates
// need warnings because a controller creates their pods: the user does not receive the warnings for these pods. warn
// returns the messages for annotations that are not in before.
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

// podAnnotations returns the annotations of a node, of a pod or of the template in an object, with the path of the
// template. It returns nil if there is none.
func podAnnotations(o runtime.Object) (annotations *map[string]string, at string) {
	switch o := o.(type) {
	case *corev1.Pod:
		return &o.Annotations, ""
	case *corev1.Node:
		return &o.Annotations, ""
	}
	t, path := podspec.TemplateOf(o)
	if t == nil {
		return nil, ""
	}
	return &t.Annotations, path.String() + "."
}

// PodTemplate returns the pod template of an object of a built-in kind, or nil if it has none.
func PodTemplate(obj runtime.Object) *corev1.PodTemplateSpec {
	t, _ := podspec.TemplateOf(obj)
	return t
}
