package podspec

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// DropFields removes the fields of a pod's spec whose feature gates are off in v1.37, unless the old spec uses them;
// old is nil on create (DropDisabledPodFields).
func DropFields(s, old *corev1.PodSpec) {
	dropStopSignals(s, old)
	dropAlphaFields(s, old)
}

// dropAlphaFields removes the fields of the feature gates of v1.37 that are off (V-023).
var dropAlphaFields = check.Gates(
	// GenericWorkload
	check.Gate[corev1.PodSpec](check.FieldsOf[corev1.PodSpec]("SchedulingGroup")),
	// EvictionRequestAPI
	check.Gate[corev1.PodSpec](check.FieldsOf[corev1.PodSpec]("EvictionResponders")),
	// EmptyDirVolumeMode
	check.Gate[corev1.PodSpec](check.FieldsOf[corev1.EmptyDirVolumeSource]("Mode")),
	// AtomicWriteVolumeUserFields
	check.Gate[corev1.PodSpec](
		check.FieldsOf[corev1.KeyToPath]("User"), check.FieldsOf[corev1.DownwardAPIVolumeFile]("User"),
		check.FieldsOf[corev1.SecretVolumeSource]("DefaultUser"),
		check.FieldsOf[corev1.ConfigMapVolumeSource]("DefaultUser"),
		check.FieldsOf[corev1.DownwardAPIVolumeSource]("DefaultUser"),
		check.FieldsOf[corev1.ProjectedVolumeSource]("DefaultUser"),
		check.FieldsOf[corev1.ServiceAccountTokenProjection]("User"),
		check.FieldsOf[corev1.ClusterTrustBundleProjection]("User"),
		check.FieldsOf[corev1.PodCertificateProjection]("User")),
	// VolumeBindMountOptions
	check.Gate[corev1.PodSpec](check.FieldsOf[corev1.VolumeMount]("BindMountOptions")),
	// H2CContainerProbe
	check.Gate[corev1.PodSpec](check.FieldsOf[corev1.HTTPGetAction]("Protocol")),
	// GRPCContainerProbeTLS
	check.Gate[corev1.PodSpec](check.FieldsOf[corev1.GRPCAction]("Mode")))

// DropFieldsOf is the hook Prepare that applies DropFields to the template of an object.
func DropFieldsOf(obj, old runtime.Object) {
	now, _ := TemplateOf(obj)
	was, _ := TemplateOf(old)
	DropTemplateFields(now, was)
}

// DropTemplateFields applies DropFields to a template.
func DropTemplateFields(t, old *corev1.PodTemplateSpec) {
	if was := check.ValueOf(old); t != nil {
		DropFields(&t.Spec, &was.Spec)
	}
}

// dropStopSignals removes the fields of the gate ContainerStopSignals.
func dropStopSignals(s, old *corev1.PodSpec) {
	if old != nil {
		for c := range Containers(old, nil) {
			if c.Lifecycle != nil && c.Lifecycle.StopSignal != nil {
				return
			}
		}
	}
	for c := range Containers(s, nil) {
		if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
			continue
		}
		if c.Lifecycle.StopSignal = nil; *c.Lifecycle == (corev1.Lifecycle{}) {
			c.Lifecycle = nil
		}
	}
}

// Containers returns a pod's init, regular and ephemeral containers with their paths. at is the path of the spec.
func Containers(s *corev1.PodSpec, at *field.Path) iter.Seq2[*corev1.Container, *field.Path] {
	return func(yield func(*corev1.Container, *field.Path) bool) {
		inits, regular, ephemeral := at.Child("initContainers"), at.Child("containers"), at.Child("ephemeralContainers")
		for i := range s.InitContainers {
			if !yield(&s.InitContainers[i], inits.Index(i)) {
				return
			}
		}
		for i := range s.Containers {
			if !yield(&s.Containers[i], regular.Index(i)) {
				return
			}
		}
		for i := range s.EphemeralContainers {
			if !yield((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon), ephemeral.Index(i)) {
				return
			}
		}
	}
}
