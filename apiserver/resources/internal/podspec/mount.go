package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// mounts validates a container's volume mounts (core ValidateVolumeMounts). Upstream reports some errors without the
// mount's index.
func (r *Rules) mounts(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	used := map[string]bool{}
	names, paths := map[string]bool{}, map[string]bool{}
	for _, path := range deviceByName(c.VolumeDevices) {
		paths[path] = true
	}
	for _, d := range c.VolumeDevices {
		names[d.Name] = true
	}
	for i := range c.VolumeMounts {
		m, here := &c.VolumeMounts[i], at.Index(i)
		errs = append(errs, check.RequireAll(here, "name", m.Name)...)
		if r.mountable[m.Name] == nil {
			errs = append(errs, field.NotFound(here.Child("name"), m.Name))
		}
		errs = append(errs, check.RequireAll(here, "mountPath", m.MountPath)...)
		if used[m.MountPath] {
			errs = append(errs, field.Invalid(here.Child("mountPath"), m.MountPath, "must be unique"))
		}
		used[m.MountPath] = true
		if names[m.Name] {
			errs = append(errs, field.Invalid(here.Child("name"), m.Name, "must not already exist in volumeDevices"))
		}
		if paths[m.MountPath] {
			errs = append(errs, field.Invalid(here.Child("mountPath"), m.MountPath,
				"must not already exist as a path in volumeDevices"))
		}
		errs = append(errs, subPaths(m, at, here)...)
		errs = append(errs, propagation(m, c, at.Child("mountPropagation"))...)
		errs = append(errs, recursiveReadOnly(m, at.Child("recursiveReadOnly"))...)
	}
	return errs
}

// deviceByName keeps the last path of each name, as mounts are compared only with that.
func deviceByName(devices []corev1.VolumeDevice) map[string]string {
	m := map[string]string{}
	for _, d := range devices {
		m[d.Name] = d.DevicePath
	}
	return m
}

func mountByName(mounts []corev1.VolumeMount) map[string]string {
	m := map[string]string{}
	for _, v := range mounts {
		m[v.Name] = v.MountPath
	}
	return m
}

func subPaths(m *corev1.VolumeMount, all, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.NonEmpty(m.SubPath, all.Child("subPath"), Descending)...)
	if m.SubPathExpr == "" {
		return errs
	}
	if m.SubPath != "" {
		errs = append(errs, field.Invalid(at.Child("subPathExpr"), m.SubPathExpr,
			"subPathExpr and subPath are mutually exclusive"))
	}
	return append(errs, Descending(m.SubPathExpr, all.Child("subPathExpr"))...)
}

var propagations = []corev1.MountPropagationMode{
	corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone,
}

func propagation(m *corev1.VolumeMount, c *corev1.Container, at *field.Path) field.ErrorList {
	if m.MountPropagation == nil {
		return nil
	}
	errs := check.OneOf(*m.MountPropagation, at, propagations)
	privileged := c.SecurityContext != nil && check.IsTrue(c.SecurityContext.Privileged)
	if *m.MountPropagation == corev1.MountPropagationBidirectional && !privileged {
		errs = append(errs, field.Forbidden(at, "Bidirectional mount propagation is available only to privileged containers"))
	}
	return errs
}

var recursions = []corev1.RecursiveReadOnlyMode{
	corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible,
}

func recursiveReadOnly(m *corev1.VolumeMount, at *field.Path) (errs field.ErrorList) {
	if m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return nil
	}
	if errs = check.OneOf(*m.RecursiveReadOnly, at, recursions); len(errs) != 0 {
		return errs
	}
	if !m.ReadOnly {
		errs = append(errs, field.Forbidden(at, "may only be specified when readOnly is true"))
	}
	if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
		errs = append(errs, field.Forbidden(at, "may only be specified when mountPropagation is None or not specified"))
	}
	return errs
}

// devices validates a container's block devices (core validateVolumeDevices).
func (r *Rules) devices(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	names, paths := map[string]bool{}, map[string]bool{}
	mounts := mountByName(c.VolumeMounts)
	mountPaths := map[string]bool{}
	for _, path := range mounts {
		mountPaths[path] = true
	}
	for i := range c.VolumeDevices {
		d := &c.VolumeDevices[i]
		name, path := at.Index(i).Child("name"), at.Index(i).Child("devicePath")
		v := r.mountable[d.Name]
		errs = append(errs, check.RequireAll(at.Index(i), "name", d.Name)...)
		if names[d.Name] {
			errs = append(errs, field.Invalid(name, d.Name, "must be unique"))
		}
		if v != nil && v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
			errs = append(errs, field.Invalid(name, d.Name,
				"can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"))
		}
		if v == nil {
			errs = append(errs, field.NotFound(name, d.Name))
		}
		errs = append(errs, check.RequireAll(at.Index(i), "devicePath", d.DevicePath)...)
		if paths[d.DevicePath] {
			errs = append(errs, field.Invalid(path, d.DevicePath, "must be unique"))
		}
		if len(NoBacksteps(d.DevicePath, path)) != 0 {
			errs = append(errs, field.Invalid(path, d.DevicePath, "can not contain backsteps ('..')"))
		} else {
			paths[d.DevicePath] = true
		}
		if _, ok := mounts[d.Name]; ok {
			errs = append(errs, field.Invalid(name, d.Name, "must not already exist in volumeMounts"))
		}
		if mountPaths[d.DevicePath] {
			errs = append(errs, field.Invalid(path, d.DevicePath, "must not already exist as a path in volumeMounts"))
		}
		if d.Name != "" {
			names[d.Name] = true
		}
	}
	return errs
}
