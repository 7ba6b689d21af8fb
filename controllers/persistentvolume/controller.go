package persistentvolume

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// component is the source of the events (pv_controller_base.go: NewController).
const component = "persistentvolume-controller"

// Annotations (k8s.io/component-helpers/storage/volume/pv_helpers.go).
const (
	bindCompleted     = "pv.kubernetes.io/bind-completed"
	boundByController = "pv.kubernetes.io/bound-by-controller"
	provisionedBy     = "pv.kubernetes.io/provisioned-by"
	migratedTo        = "pv.kubernetes.io/migrated-to"
	selectedNode      = "volume.kubernetes.io/selected-node"
	provisioner       = "volume.kubernetes.io/storage-provisioner"
	betaProvisioner   = "volume.beta.kubernetes.io/storage-provisioner"
	yes               = "yes"
)

// Claims returns the part that works on claims. It must not run twice at a time.
func Claims() workload.Controller {
	return workload.Controller{
		Name: component, For: workload.Claims,
		Sees: []workload.Resource{workload.Volumes, workload.StorageClasses, workload.Pods}, Wake: claimsOf,
		Decide: workload.Present(syncClaim),
	}
}

// Volumes returns the part that works on volumes.
func Volumes() workload.Controller {
	return workload.Controller{
		Name: component, For: workload.Volumes, Sees: []workload.Resource{workload.Claims}, Wake: volumesOf,
		Decide: workload.Present(syncVolume),
	}
}

// claimsOf returns the claims that a change of another object affects.
func claimsOf(r workload.Reader, c workload.Change) []workload.Key {
	switch {
	case c.Resource == workload.Volumes:
		name := cmp.Or(c.New, c.Old).Name
		v := workload.Get[*corev1.PersistentVolume](r, "", name)
		return selected(r, func(p *corev1.PersistentVolumeClaim) bool {
			return p.Spec.VolumeName == name || v != nil && (refers(v, p) || waiting(p) && fits(v, p, delayed(r, p)))
		})
	case c.Resource == workload.StorageClasses && c.New != nil:
		class := workload.Get[*storagev1.StorageClass](r, "", c.New.Name)
		return selected(r, func(p *corev1.PersistentVolumeClaim) bool {
			return waiting(p) && (classOf(p) == c.New.Name || class != nil && !hasClass(p) && isDefault(class))
		})
	case c.Resource == workload.Pods && c.Old == nil:
		return delayedClaims(r, c)
	}
	return nil
}

// delayedClaims returns the claims of a pod that wait for their first consumer.
func delayedClaims(r workload.Reader, c workload.Change) (keys []workload.Key) {
	if c.New == nil {
		return nil
	}
	names, _ := c.New.Claims() // of a pod that can't be decoded none is known
	for _, name := range names {
		p := workload.Get[*corev1.PersistentVolumeClaim](r, c.New.Namespace, name)
		if p != nil && waiting(p) && delayed(r, p) {
			keys = append(keys, workload.KeyOf(p))
		}
	}
	return keys
}

// selected returns the claims that fulfil a condition.
func selected(r workload.Reader, is func(*corev1.PersistentVolumeClaim) bool) []workload.Key {
	return workload.KeysOf(workload.All[*corev1.PersistentVolumeClaim](r, ""), is)
}

// waiting reports whether the claim is unbound and accepts any volume that fits.
func waiting(p *corev1.PersistentVolumeClaim) bool {
	_, done := p.Annotations[bindCompleted]
	return !done && p.Spec.VolumeName == ""
}

// volumesOf returns the volumes that a claim names, or that name it.
func volumesOf(r workload.Reader, c workload.Change) []workload.Key {
	if c.Resource != workload.Claims {
		return nil
	}
	m := cmp.Or(c.New, c.Old)
	p := workload.Get[*corev1.PersistentVolumeClaim](r, m.Namespace, m.Name)
	return workload.KeysOf(workload.All[*corev1.PersistentVolume](r, ""), func(v *corev1.PersistentVolume) bool {
		ref := v.Spec.ClaimRef
		return ref != nil && ref.Namespace == m.Namespace && ref.Name == m.Name || p != nil && p.Spec.VolumeName == v.Name
	})
}
