package podspec

import (
	corev1 "k8s.io/api/core/v1"
)

// DropFields removes the fields of a pod's spec whose feature gates are off in v1.36, unless the old spec uses them;
// old is nil on create (DropDisabledPodFields).
func DropFields(s, old *corev1.PodSpec) {
	if old == nil {
		old = &corev1.PodSpec{}
	}
	if old.SchedulingGroup == nil { // GenericWorkload
		s.SchedulingGroup = nil
	}
	// ClusterTrustBundleProjection
	trust := func(p *corev1.VolumeProjection) bool { return p.ClusterTrustBundle != nil }
	dropProjections(s, old, trust, func(p *corev1.VolumeProjection) { p.ClusterTrustBundle = nil })
	// PodCertificateRequest
	certificate := func(p *corev1.VolumeProjection) bool { return p.PodCertificate != nil }
	dropProjections(s, old, certificate, func(p *corev1.VolumeProjection) { p.PodCertificate = nil })
	dropStopSignals(s, old)
}

func dropProjections(
	s, old *corev1.PodSpec, used func(*corev1.VolumeProjection) bool, drop func(*corev1.VolumeProjection),
) {
	inUse := false
	eachProjection(old, func(p *corev1.VolumeProjection) { inUse = inUse || used(p) })
	if !inUse {
		eachProjection(s, drop)
	}
}

func eachProjection(s *corev1.PodSpec, f func(*corev1.VolumeProjection)) {
	for i := range s.Volumes {
		if p := s.Volumes[i].Projected; p != nil {
			for j := range p.Sources {
				f(&p.Sources[j])
			}
		}
	}
}

// dropStopSignals is for ContainerStopSignals.
func dropStopSignals(s, old *corev1.PodSpec) {
	inUse := false
	for _, c := range Containers(old) {
		inUse = inUse || c.Lifecycle != nil && c.Lifecycle.StopSignal != nil
	}
	if inUse {
		return
	}
	for _, c := range Containers(s) {
		if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
			continue
		}
		if c.Lifecycle.StopSignal = nil; *c.Lifecycle == (corev1.Lifecycle{}) {
			c.Lifecycle = nil
		}
	}
}

// Containers lists all containers of a pod in upstream's order of visits.
func Containers(s *corev1.PodSpec) []*corev1.Container {
	list := make([]*corev1.Container, 0, len(s.InitContainers)+len(s.Containers)+len(s.EphemeralContainers))
	for i := range s.InitContainers {
		list = append(list, &s.InitContainers[i])
	}
	for i := range s.Containers {
		list = append(list, &s.Containers[i])
	}
	for i := range s.EphemeralContainers {
		list = append(list, (*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon))
	}
	return list
}

// DropTemplateFields is DropFields for a template.
func DropTemplateFields(t, old *corev1.PodTemplateSpec) {
	switch {
	case t == nil:
	case old == nil:
		DropFields(&t.Spec, nil)
	default:
		DropFields(&t.Spec, &old.Spec)
	}
}
