package podspec

import (
	corev1 "k8s.io/api/core/v1"
)

// DropFields removes the fields of a pod's spec whose feature gates are off in v1.37, unless the old spec uses them;
// old is nil on create (DropDisabledPodFields).
func DropFields(s, old *corev1.PodSpec) {
	if old == nil {
		old = &corev1.PodSpec{}
	}
	if old.SchedulingGroup == nil { // GenericWorkload
		s.SchedulingGroup = nil
	}
	dropStopSignals(s, old)
	for _, each := range alphaFields {
		dropUnless(s, old, each)
	}
}

// alphaFields are fields of v1.37 whose gates are off (V-023), those of one gate in one function, which calls found
// with a function that removes the field for each that is set.
var alphaFields = []func(s *corev1.PodSpec, found func(drop func())){
	evictionResponders, directoryModes, users, mountOptions, httpProtocols, grpcModes,
}

// dropUnless removes fields unless the old spec has one of them.
func dropUnless(s, old *corev1.PodSpec, each func(*corev1.PodSpec, func(drop func()))) {
	inUse := false
	each(old, func(func()) { inUse = true })
	if !inUse {
		each(s, func(drop func()) { drop() })
	}
}

// evictionResponders is for EvictionRequestAPI.
func evictionResponders(s *corev1.PodSpec, found func(drop func())) {
	if s.EvictionResponders != nil {
		found(func() { s.EvictionResponders = nil })
	}
}

// directoryModes is for EmptyDirVolumeMode.
func directoryModes(s *corev1.PodSpec, found func(drop func())) {
	for i := range s.Volumes {
		if d := s.Volumes[i].EmptyDir; d != nil {
			set(&d.Mode, found)
		}
	}
}

// users is for AtomicWriteVolumeUserFields.
func users(s *corev1.PodSpec, found func(drop func())) {
	keys := func(items []corev1.KeyToPath) {
		for i := range items {
			set(&items[i].User, found)
		}
	}
	files := func(items []corev1.DownwardAPIVolumeFile) {
		for i := range items {
			set(&items[i].User, found)
		}
	}
	for i := range s.Volumes {
		v := &s.Volumes[i]
		if v.Secret != nil {
			set(&v.Secret.DefaultUser, found)
			keys(v.Secret.Items)
		}
		if v.ConfigMap != nil {
			set(&v.ConfigMap.DefaultUser, found)
			keys(v.ConfigMap.Items)
		}
		if v.DownwardAPI != nil {
			set(&v.DownwardAPI.DefaultUser, found)
			files(v.DownwardAPI.Items)
		}
		if v.Projected != nil {
			set(&v.Projected.DefaultUser, found)
		}
	}
	eachProjection(s, func(p *corev1.VolumeProjection) {
		if p.Secret != nil {
			keys(p.Secret.Items)
		}
		if p.ConfigMap != nil {
			keys(p.ConfigMap.Items)
		}
		if p.DownwardAPI != nil {
			files(p.DownwardAPI.Items)
		}
		if p.ServiceAccountToken != nil {
			set(&p.ServiceAccountToken.User, found)
		}
		if p.ClusterTrustBundle != nil {
			set(&p.ClusterTrustBundle.User, found)
		}
		if p.PodCertificate != nil {
			set(&p.PodCertificate.User, found)
		}
	})
}

// mountOptions is for VolumeBindMountOptions.
func mountOptions(s *corev1.PodSpec, found func(drop func())) {
	for _, c := range Containers(s) {
		for i := range c.VolumeMounts {
			if m := &c.VolumeMounts[i]; m.BindMountOptions != nil {
				found(func() { m.BindMountOptions = nil })
			}
		}
	}
}

// httpProtocols is for H2CContainerProbe.
func httpProtocols(s *corev1.PodSpec, found func(drop func())) {
	eachProbe(s, func(h *corev1.ProbeHandler) {
		if h.HTTPGet != nil {
			set(&h.HTTPGet.Protocol, found)
		}
	})
	for _, c := range Containers(s) {
		if l := c.Lifecycle; l != nil {
			for _, h := range []*corev1.LifecycleHandler{l.PostStart, l.PreStop} {
				if h != nil && h.HTTPGet != nil {
					set(&h.HTTPGet.Protocol, found)
				}
			}
		}
	}
}

// grpcModes is for GRPCContainerProbeTLS.
func grpcModes(s *corev1.PodSpec, found func(drop func())) {
	eachProbe(s, func(h *corev1.ProbeHandler) {
		if h.GRPC != nil {
			set(&h.GRPC.Mode, found)
		}
	})
}

func eachProbe(s *corev1.PodSpec, f func(*corev1.ProbeHandler)) {
	for _, c := range Containers(s) {
		for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
			if p != nil {
				f(&p.ProbeHandler)
			}
		}
	}
}

// set calls found for a pointer that is not nil.
func set[T any](p **T, found func(drop func())) {
	if *p != nil {
		found(func() { *p = nil })
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
