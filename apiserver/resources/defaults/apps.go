package defaults

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Deployment wants one pod and rolls out a quarter at a time.
func Deployment(d *appsv1.Deployment) {
	set(&d.Spec.Replicas, 1)
	s := &d.Spec.Strategy
	fill(&s.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if s.Type == appsv1.RollingUpdateDeploymentStrategyType {
		set(&s.RollingUpdate, appsv1.RollingUpdateDeployment{})
		set(&s.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		set(&s.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	set(&d.Spec.RevisionHistoryLimit, 10)
	set(&d.Spec.ProgressDeadlineSeconds, 600)
	template(&d.Spec.Template)
}

// DaemonSet rolls out one node at a time.
func DaemonSet(d *appsv1.DaemonSet) {
	s := &d.Spec.UpdateStrategy
	fill(&s.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		set(&s.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		set(&s.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		set(&s.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	set(&d.Spec.RevisionHistoryLimit, 10)
	template(&d.Spec.Template)
}

// ReplicaSet wants one pod.
func ReplicaSet(r *appsv1.ReplicaSet) {
	set(&r.Spec.Replicas, 1)
	template(&r.Spec.Template)
}

// StatefulSet wants one pod, in order, and retains claims. A rolling update that was asked for by
// name stays without parameters; its maximum of unavailable pods is not filled in, since
// MaxUnavailableStatefulSet is off in v1.36.
func StatefulSet(s *appsv1.StatefulSet) {
	fill(&s.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	u := &s.Spec.UpdateStrategy
	if u.Type == "" {
		u.Type = appsv1.RollingUpdateStatefulSetStrategyType
		set(&u.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if u.Type == appsv1.RollingUpdateStatefulSetStrategyType && u.RollingUpdate != nil {
		set(&u.RollingUpdate.Partition, 0)
	}
	set(&s.Spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	fill(&s.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	fill(&s.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	set(&s.Spec.Replicas, 1)
	set(&s.Spec.RevisionHistoryLimit, 10)
	template(&s.Spec.Template)
	for i := range s.Spec.VolumeClaimTemplates {
		claim := &s.Spec.VolumeClaimTemplates[i]
		claim.APIVersion, claim.Kind = "v1", "PersistentVolumeClaim" // apps/v1 shows what it otherwise knows
		PersistentVolumeClaim(claim)
	}
}
