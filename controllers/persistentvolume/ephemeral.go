package persistentvolume

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Ephemeral creates the claims of pods' generic ephemeral volumes (K pkg/controller/volume/ephemeral). A pod that
// isn't being deleted has for each such volume a claim <pod>-<volume>, which it controls, so that the claim is deleted
// with it (I-10). A deleted claim is created again. A claim of that name that the pod doesn't control is not changed;
// the pod gets an Event, and its own claim when the other one is gone.
func Ephemeral() workload.Controller {
	return workload.Controller{
		Name: "ephemeral_volume", For: workload.Pods, Quiet: true, Sees: []workload.Resource{workload.Claims},
		Wake:   unclaimed,
		Decide: workload.Present(missingClaims),
	}
}

// unclaimed returns a new pod, or one whose claim was deleted. A pod's volumes never change.
func unclaimed(r workload.Reader, c workload.Change) (keys []workload.Key) {
	switch {
	case c.Resource == workload.Pods && c.Old == nil && c.New.Mentions(`"ephemeral"`):
		if p := workload.Get[*corev1.Pod](r, c.New.Namespace, c.New.Name); p != nil &&
			slices.ContainsFunc(p.Spec.Volumes, generic) {
			keys = append(keys, c.New.Key)
		}
	case c.Resource == workload.Claims && c.New == nil:
		for i, b := range c.Old.Name {
			if b != '-' {
				continue
			}
			p := workload.Get[*corev1.Pod](r, c.Old.Namespace, c.Old.Name[:i])
			if p != nil && slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
				return generic(v) && ephemeral.VolumeClaimName(p, &v) == c.Old.Name
			}) {
				keys = append(keys, workload.KeyOf(p))
			}
		}
	}
	return keys
}

// generic reports whether the volume is a generic ephemeral one.
func generic(v corev1.Volume) bool {
	return v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil
}

// missingClaims plans the missing claims of a pod; one that can't be created delays those after it.
func missingClaims(r workload.View, p *corev1.Pod, _ time.Time) (plan workload.Plan) {
	if p.DeletionTimestamp != nil {
		return plan
	}
	for _, v := range p.Spec.Volumes {
		if !generic(v) {
			continue
		}
		about, name := fmt.Sprintf("ephemeral volume %s: ", v.Name), ephemeral.VolumeClaimName(p, &v)
		if c := workload.Get[*corev1.PersistentVolumeClaim](r, p.Namespace, name); c == nil {
			plan.Do = append(plan.Do, workload.Create{Object: ephemeralClaim(p, v),
				Failed: workload.Warning("FailedBinding", about+"create PVC "+name+": "+workload.Problem)})
		} else if err := ephemeral.VolumeIsForPod(p, c); err != nil {
			plan.Events = append(plan.Events, workload.Warning("FailedBinding", about+err.Error()))
			return plan
		}
	}
	return plan
}

func ephemeralClaim(p *corev1.Pod, v corev1.Volume) *corev1.PersistentVolumeClaim {
	t := v.Ephemeral.VolumeClaimTemplate.DeepCopy()
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: ephemeral.VolumeClaimName(p, &v), Labels: t.Labels,
			Annotations:     t.Annotations,
			OwnerReferences: []metav1.OwnerReference{workload.ControllerRef(p)}},
		Spec: t.Spec,
	}
}
