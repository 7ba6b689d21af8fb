package disruption

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// appsGroups has the groups of ReplicaSets and Deployments in references. The second is not served any more.
var appsGroups = []string{appsv1.GroupName, "extensions"}

// scale is the scale of a pod's controller, without a UID if there is no such object, or the reason why it has none.
type scale struct {
	workload.Scale
	err error
}

// scalesOf returns the scales of the pods' controllers. unknown has the controllers that are not ReplicationControllers
// or ReplicaSets (of a Deployment) or StatefulSets, whose scale subresource must be read (finders).
func scalesOf(r workload.Reader, pods []*corev1.Pod) (known map[workload.Owner]scale, unknown []workload.Owner) {
	known = map[workload.Owner]scale{}
	for _, p := range pods {
		ref := metav1.GetControllerOfNoCopy(p)
		if ref == nil {
			continue
		}
		owner := workload.OwnerOf(ref)
		if _, ok := known[owner]; ok || slices.Contains(unknown, owner) {
			continue
		}
		gv, err := schema.ParseGroupVersion(owner.APIVersion)
		if s := builtIn(r, p.Namespace, owner, gv.Group); err != nil || s.UID != "" {
			known[owner] = scale{s, err}
		} else {
			unknown = append(unknown, owner)
		}
	}
	return known, unknown
}

// builtIn returns the scale of a controller that the view has.
func builtIn(r workload.Reader, namespace string, owner workload.Owner, group string) (s workload.Scale) {
	switch {
	case owner.Kind == "ReplicationController" && group == "":
		if c := workload.Get[*corev1.ReplicationController](r, namespace, owner.Name); c != nil && c.UID == owner.UID {
			return workload.Scale{UID: c.UID, Replicas: ptr.Deref(c.Spec.Replicas, 1)}
		}
	case owner.Kind == "StatefulSet" && group == appsv1.GroupName:
		if c := workload.Get[*appsv1.StatefulSet](r, namespace, owner.Name); c != nil && c.UID == owner.UID {
			return workload.Scale{UID: c.UID, Replicas: ptr.Deref(c.Spec.Replicas, 1)}
		}
	case owner.Kind == "ReplicaSet" && slices.Contains(appsGroups, group):
		if c := workload.Get[*appsv1.ReplicaSet](r, namespace, owner.Name); c != nil && c.UID == owner.UID {
			return replicaSet(r, c)
		}
	}
	return s
}

// replicaSet returns the scale of a ReplicaSet's Deployment, or its own if it has none.
func replicaSet(r workload.Reader, c *appsv1.ReplicaSet) workload.Scale {
	if ref := metav1.GetControllerOfNoCopy(c); ref != nil && ref.Kind == "Deployment" {
		d := workload.Get[*appsv1.Deployment](r, c.Namespace, ref.Name)
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err == nil && slices.Contains(appsGroups, gv.Group) && d != nil && d.UID == ref.UID {
			return workload.Scale{UID: d.UID, Replicas: ptr.Deref(d.Spec.Replicas, 1)}
		}
	}
	return workload.Scale{UID: c.UID, Replicas: ptr.Deref(c.Spec.Replicas, 1)}
}
