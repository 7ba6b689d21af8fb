package persistentvolume

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Simulated is the provisioner of volumes without data.
const Simulated = "kubecascade.io/simulated"

// StandardClass returns the default class of a simulation.
func StandardClass() *storagev1.StorageClass {
	mode, yes := storagev1.VolumeBindingWaitForFirstConsumer, true
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "standard", Annotations: map[string]string{
			"storageclass.kubernetes.io/is-default-class": "true",
		}},
		Provisioner: Simulated, VolumeBindingMode: &mode, AllowVolumeExpansion: &yes,
	}
}

// Provisioning makes and expands the volumes of Simulated.
func Provisioning() workload.Controller {
	return workload.Controller{
		Name: Simulated, For: workload.Claims, Sees: []workload.Resource{workload.Volumes},
		Wake: func(r workload.Reader, c workload.Change) []workload.Key {
			if c.Resource != workload.Volumes {
				return nil
			}
			v := workload.Get[*corev1.PersistentVolume](r, "", cmp.Or(c.New, c.Old).Name)
			if v == nil || v.Spec.ClaimRef == nil {
				return nil
			}
			return []workload.Key{{Namespace: v.Spec.ClaimRef.Namespace, Name: v.Spec.ClaimRef.Name}}
		},
		Decide: workload.Present(func(v workload.View, p *corev1.PersistentVolumeClaim, _ time.Time) workload.Plan {
			if p.Status.Phase == corev1.ClaimBound {
				return expand(workload.Get[*corev1.PersistentVolume](v, "", p.Spec.VolumeName), p)
			}
			_, selected := p.Annotations[selectedNode]
			class := workload.Get[*storagev1.StorageClass](v, "", classOf(p))
			if class == nil || p.Annotations[provisioner] != Simulated || !waiting(p) || p.DeletionTimestamp != nil ||
				delayed(v, p) && !selected {
				return workload.Plan{}
			}
			next := provisioned(p, class)
			if workload.Get[*corev1.PersistentVolume](v, "", next.Name) != nil {
				return workload.Plan{}
			}
			return workload.Plan{Do: []workload.Action{workload.Create{Object: next, Done: workload.Normal(
				"ProvisioningSucceeded", "Successfully provisioned volume "+next.Name)}}}
		}),
	}
}

// provisioned returns the volume for a claim (sig-storage-lib-external-provisioner controller/controller.go:
// provisionClaimOperation).
func provisioned(p *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	name := "pvc-" + string(p.UID)
	policy := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		policy = *class.ReclaimPolicy
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: Simulated}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: p.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes: p.Spec.AccessModes, VolumeMode: p.Spec.VolumeMode, MountOptions: class.MountOptions,
			PersistentVolumeReclaimPolicy: policy, StorageClassName: class.Name,
			ClaimRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: p.Namespace,
				Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/simulated/" + name}},
			VolumeAttributesClassName: p.Spec.VolumeAttributesClassName,
		},
	}
}

// expand gives a claim the size that it requests: first its volume, then the claim (K
// pkg/volume/util/operationexecutor; external-resizer pkg/controller/controller.go: resizePVC).
func expand(v *corev1.PersistentVolume, p *corev1.PersistentVolumeClaim) workload.Plan {
	want := p.Spec.Resources.Requests[corev1.ResourceStorage]
	if has := p.Status.Capacity[corev1.ResourceStorage]; v == nil || v.Annotations[provisionedBy] != Simulated ||
		has.Cmp(want) >= 0 {
		return workload.Plan{}
	}
	if size(v).Cmp(want) < 0 {
		v = v.DeepCopy()
		v.Spec.Capacity[corev1.ResourceStorage] = want
		return workload.Plan{Do: []workload.Action{workload.Update{Object: v}}}
	}
	p = p.DeepCopy()
	p.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: want}
	p.Status.AllocatedResources = p.Status.Capacity
	return workload.Plan{Status: p, Events: []workload.Event{
		workload.Normal("VolumeResizeSuccessful", "Resize volume succeeded")}}
}

// Deleting deletes the released volumes of Simulated whose policy is Delete.
func Deleting() workload.Controller {
	return workload.Controller{Name: Simulated, For: workload.Volumes,
		Decide: workload.Present(func(_ workload.View, v *corev1.PersistentVolume, _ time.Time) workload.Plan {
			if v.Annotations[provisionedBy] != Simulated || v.Status.Phase != corev1.VolumeReleased ||
				v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete || v.DeletionTimestamp != nil {
				return workload.Plan{}
			}
			return workload.Plan{Do: []workload.Action{workload.Delete{Object: v}}}
		})}
}
