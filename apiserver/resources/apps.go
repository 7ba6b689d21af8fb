package resources

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/validation"
)

func apps() []*Resource {
	bySpec := Strategy{Generation: SpecGeneration}
	scalable := []Subresource{scale, status}
	return group(appsv1.SchemeGroupVersion,
		&Resource{Plural: "controllerrevisions", New: of[appsv1.ControllerRevision], Namespaced: true},
		&Resource{Plural: "daemonsets", New: of[appsv1.DaemonSet], Namespaced: true, ShortNames: []string{"ds"},
			Categories: inAll, Strategy: bySpec, Subresources: withStatus},
		&Resource{Plural: "deployments", New: of[appsv1.Deployment], Namespaced: true, ShortNames: []string{"deploy"},
			Categories: inAll, Strategy: Strategy{Generation: SpecOrAnnotations}, Subresources: scalable},
		&Resource{Plural: "replicasets", New: of[appsv1.ReplicaSet], Namespaced: true, ShortNames: []string{"rs"},
			Categories: inAll, Strategy: bySpec, Subresources: scalable},
		&Resource{Plural: "statefulsets", New: of[appsv1.StatefulSet], Namespaced: true, ShortNames: []string{"sts"},
			// ValidateStatefulSetName: pods' hostnames are made of it, so it must be a label (apps/validation).
			Categories: inAll, Strategy: Strategy{Generation: SpecGeneration, Name: validation.NameIsDNSLabel}, Subresources: scalable},
	)
}
