package podspec

import (
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// mounts validates a container's volume mounts (core ValidateVolumeMounts). Upstream reports some errors without the
// mount's index.
func (r *Rules) mounts(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	used := map[string]bool{}
	devices := map[string]string{} // the last path of each device name: mounts are compared only with this path
	for _, d := range c.VolumeDevices {
		devices[d.Name] = d.DevicePath
	}
	paths := check.Set(slices.Collect(maps.Values(devices))...)
	for i := range c.VolumeMounts {
		m, here := &c.VolumeMounts[i], at.Index(i)
		errs = append(errs, check.RequireAll(here, "name", m.Name)...)
		if r.mountable[m.Name] == nil {
			errs = append(errs, field.NotFound(here.Child("name"), m.Name))
		}
		errs = append(errs, check.RequireAll(here, "mountPath", m.MountPath)...)
		errs = append(errs, check.Reject(used[m.MountPath], here.Child("mountPath"), m.MountPath, "must be unique")...)
		used[m.MountPath] = true
		_, device := devices[m.Name]
		errs = append(errs, check.Reject(device, here.Child("name"), m.Name,
			"must not already exist in volumeDevices")...)
		errs = append(errs, check.Reject(paths[m.MountPath], here.Child("mountPath"), m.MountPath,
			"must not already exist as a path in volumeDevices")...)
		errs = append(errs, subPaths(m, at, here)...)
		errs = append(errs, propagation(m, c, at.Child("mountPropagation"))...)
		errs = append(errs, recursiveReadOnly(m, at.Child("recursiveReadOnly"))...)
	}
	return errs
}

func subPaths(m *corev1.VolumeMount, all, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.NonEmpty(m.SubPath, all.Child("subPath"), Descending)...)
	if m.SubPathExpr == "" {
		return errs
	}
	errs = append(errs, check.Reject(m.SubPath != "", at.Child("subPathExpr"), m.SubPathExpr,
		"subPathExpr and subPath are mutually exclusive")...)
	return append(errs, Descending(m.SubPathExpr, all.Child("subPathExpr"))...)
}

func propagation(m *corev1.VolumeMount, c *corev1.Container, at *field.Path) field.ErrorList {
	if m.MountPropagation == nil {
		return nil
	}
	errs := check.OneOf(*m.MountPropagation, at, []corev1.MountPropagationMode{
		corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone})
	privileged := check.IsTrue(check.ValueOf(c.SecurityContext).Privileged)
	return append(errs, check.Forbid(*m.MountPropagation == corev1.MountPropagationBidirectional && !privileged, at,
		"Bidirectional mount propagation is available only to privileged containers")...)
}

func recursiveReadOnly(m *corev1.VolumeMount, at *field.Path) (errs field.ErrorList) {
	if m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return nil
	}
	if errs = check.OneOf(*m.RecursiveReadOnly, at, []corev1.RecursiveReadOnlyMode{corev1.RecursiveReadOnlyDisabled,
		corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible}); len(errs) != 0 {
		return errs
	}
	errs = append(errs, check.Forbid(!m.ReadOnly, at, "may only be specified when readOnly is true")...)
	return append(errs, check.Forbid(m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone, at,
		"may only be specified when mountPropagation is None or not specified")...)
}

// devices validates a container's block devices (core validateVolumeDevices).
func (r *Rules) devices(c *corev1.Container, at *field.Path) (errs field.ErrorList) {
	names, paths, mounts := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, v := range c.VolumeMounts {
		mounts[v.Name] = v.MountPath
	}
	mountPaths := check.Set(slices.Collect(maps.Values(mounts))...)
	for i := range c.VolumeDevices {
		d := &c.VolumeDevices[i]
		name, path := at.Index(i).Child("name"), at.Index(i).Child("devicePath")
		v := r.mountable[d.Name]
		errs = append(errs, check.RequireAll(at.Index(i), "name", d.Name)...)
		errs = append(errs, check.Reject(names[d.Name], name, d.Name, "must be unique")...)
		errs = append(errs, check.Reject(v != nil && v.PersistentVolumeClaim == nil && v.Ephemeral == nil, name, d.Name,
			"can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")...)
		if v == nil {
			errs = append(errs, field.NotFound(name, d.Name))
		}
		errs = append(errs, check.RequireAll(at.Index(i), "devicePath", d.DevicePath)...)
		errs = append(errs, check.Reject(paths[d.DevicePath], path, d.DevicePath, "must be unique")...)
		if len(NoBacksteps(d.DevicePath, path)) != 0 {
			errs = append(errs, field.Invalid(path, d.DevicePath, "can not contain backsteps ('..')"))
		} else {
			paths[d.DevicePath] = true
		}
		if _, ok := mounts[d.Name]; ok {
			errs = append(errs, field.Invalid(name, d.Name, "must not already exist in volumeMounts"))
		}
		errs = append(errs, check.Reject(mountPaths[d.DevicePath], path, d.DevicePath,
			"must not already exist as a path in volumeMounts")...)
		if d.Name != "" {
			names[d.Name] = true
		}
	}
	return errs
}

// NoBacksteps rejects the path element "..".
func NoBacksteps(p string, at *field.Path) field.ErrorList {
	for element := range strings.SplitSeq(p, "/") {
		if element == ".." {
			return field.ErrorList{field.Invalid(at, p, "must not contain '..'")}
		}
	}
	return nil
}

// Descending requires a relative path without "..".
func Descending(p string, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Reject(path.IsAbs(p), at, p, "must be a relative path")...)
	return append(errs, NoBacksteps(p, at)...)
}

// ProjectedPath requires a path that does not conflict with names that the kubelet uses.
func ProjectedPath(p string, at *field.Path) field.ErrorList {
	errs := Descending(p, at)
	return append(errs, check.Reject(strings.HasPrefix(p, "..") && !strings.HasPrefix(p, "../"), at, p,
		"must not start with '..'")...)
}

// FileMode requires permission bits.
func FileMode(mode *int32, at *field.Path) field.ErrorList {
	bits := check.ValueOf(mode)
	return check.Reject(bits < 0 || bits > 0o777, at, mode,
		"must be a number between 0 and 0777 (octal), both inclusive")
}
