package persistentvolume

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// noProvisioner is the provisioner of classes whose volumes an administrator makes.
const noProvisioner = "kubernetes.io/no-provisioner"

// Scheduling does a scheduler's work for the claims of simulated pods that wait for their first consumer: it reserves a
// volume that fits, or else selects the node for a provisioner (K
// pkg/scheduler/framework/plugins/volumebinding/binder.go: bindAPIUpdate). It is for pods that their creator or another
// scheduler has assigned.
func Scheduling() workload.Controller {
	return workload.Controller{
		Name: "volume-simulation", For: workload.Claims,
		Sees: []workload.Resource{workload.Volumes, workload.StorageClasses, workload.Pods},
		Wake: func(r workload.Reader, c workload.Change) []workload.Key {
			switch c.Resource {
			case workload.Pods:
				return delayedClaims(r, c)
			case workload.Claims:
				return nil
			}
			return selected(r, func(p *corev1.PersistentVolumeClaim) bool { return waiting(p) && delayed(r, p) })
		},
		Decide: workload.Present(func(v workload.View, p *corev1.PersistentVolumeClaim, _ time.Time) workload.Plan {
			if !waiting(p) || !delayed(v, p) || match(v, p, true) != nil {
				return workload.Plan{}
			}
			assigned := slices.DeleteFunc(users(v, p), func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" })
			if len(assigned) == 0 {
				return workload.Plan{}
			}
			if volume := match(v, p, false); volume != nil {
				return workload.Plan{Do: []workload.Action{workload.Update{Object: refer(volume, p)}}}
			}
			_, done := p.Annotations[selectedNode]
			class := workload.Get[*storagev1.StorageClass](v, "", classOf(p))
			if done || class.Provisioner == noProvisioner {
				return workload.Plan{}
			}
			next := p.DeepCopy()
			metav1.SetMetaDataAnnotation(&next.ObjectMeta, selectedNode, assigned[0].Spec.NodeName)
			return workload.Plan{Do: []workload.Action{workload.Update{Object: next}}}
		}),
	}
}
