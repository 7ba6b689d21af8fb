package server

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/simulation"
)

// warnOfAnnotations adds warnings of the simulation's annotations to pods and to the kinds that have templates for
// them. A Deployment's pods are created by a controller, which shows no warnings, so its template is where they are
// seen.
func warnOfAnnotations(entries []*resources.Resource) {
	for _, r := range entries {
		empty := r.New()
		_, optional := empty.(*corev1.ReplicationController) // its template is a pointer
		if m, _ := podMeta(empty); m == nil && !optional {
			continue
		}
		warn := r.Strategy.Warnings
		r.Strategy.Warnings = func(obj, old runtime.Object) (out []string) {
			if warn != nil {
				out = warn(obj, old)
			}
			now, at := podMeta(obj)
			if now == nil {
				return out
			}
			var before map[string]string
			if then, _ := podMeta(old); then != nil {
				before = then.Annotations
			}
			for _, w := range simulation.Warnings(now.Annotations, before) {
				out = append(out, at+w)
			}
			return out
		}
	}
}

// podMeta is the metadata of a pod, or of the template in the object, with the path of the template; nil if there is
// none.
func podMeta(o runtime.Object) (m *metav1.ObjectMeta, at string) {
	if p, ok := o.(*corev1.Pod); ok && p != nil {
		return &p.ObjectMeta, ""
	}
	if o == nil {
		return nil, ""
	}
	if t := admission.TemplateOf(o); t != nil {
		return &t.ObjectMeta, "template."
	}
	return nil, ""
}
