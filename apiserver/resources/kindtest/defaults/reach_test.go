package defaults

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
)

// parts has one function for each type, which sets the type's empty fields. The test calls it for every value of the
// type in an object. The result must equal that of the defaulting functions, so these reach every such value.
var parts = []any{
	podSpec, volume, container, containerPort, fieldRef, fileKey, probe, httpGet, grpc,
	secretVolume, configMapVolume, hostPath, azureDisk, limitRangeItem, matchResources,
	func(c *corev1.EphemeralContainer) { container((*corev1.Container)(&c.EphemeralContainerCommon)) },
	func(d *corev1.DownwardAPIVolumeSource) { set(&d.DefaultMode, 420) },
	func(p *corev1.ProjectedVolumeSource) { set(&p.DefaultMode, 420) },
	func(p *corev1.ServiceAccountTokenProjection) { set(&p.ExpirationSeconds, 3600) },
	func(s *corev1.ISCSIVolumeSource) { fill(&s.ISCSIInterface, "default") },
	func(s *corev1.ISCSIPersistentVolumeSource) { fill(&s.ISCSIInterface, "default") },
	func(s *corev1.RBDVolumeSource) { rbd(&s.RBDPool, &s.RadosUser, &s.Keyring) },
	func(s *corev1.RBDPersistentVolumeSource) { rbd(&s.RBDPool, &s.RadosUser, &s.Keyring) },
	func(s *corev1.ScaleIOVolumeSource) { scaleIO(&s.StorageMode, &s.FSType) },
	func(s *corev1.ScaleIOPersistentVolumeSource) { scaleIO(&s.StorageMode, &s.FSType) },
	func(c *corev1.PersistentVolumeClaim) { fill(&c.Status.Phase, corev1.ClaimPending) },
	func(s *corev1.PersistentVolumeClaimSpec) { set(&s.VolumeMode, corev1.PersistentVolumeFilesystem) },
	func(s *corev1.ServicePort) { fill(&s.Protocol, corev1.ProtocolTCP) },
	func(l *corev1.ResourceList) { round(*l) },
	func(p *batchv1.PodFailurePolicyOnPodConditionsPattern) { fill(&p.Status, corev1.ConditionTrue) },
	func(p *networkingv1.NetworkPolicyPort) { set(&p.Protocol, corev1.ProtocolTCP) },
	func(s *rbacv1.Subject) {
		if s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind {
			fill(&s.APIGroup, rbacv1.GroupName)
		}
	},
	func(r *admissionv1.Rule) { set(&r.Scope, admissionv1.AllScopes) },
	func(s *admissionv1.ServiceReference) { set(&s.Port, 443) },
	func(r *resourcev1.ExactDeviceRequest) { request(&r.AllocationMode, &r.Count) },
	func(r *resourcev1.DeviceSubRequest) { request(&r.AllocationMode, &r.Count) },
	func(r *resourcev1.DeviceToleration) { fill(&r.Operator, resourcev1.DeviceTolerationOpEqual) },
}

func TestReachesEveryPart(t *testing.T) {
	byType := map[reflect.Type]reflect.Value{}
	for _, f := range parts {
		v := reflect.ValueOf(f)
		byType[v.Type().In(0).Elem()] = v
	}
	reached := map[reflect.Type]bool{}
	for _, k := range defaulted() {
		gvk := k.GVK
		for seed := range int64(40) {
			obj := objecttest.New(t, gvk)
			objecttest.Fill(seed, obj)
			k.Default(obj)
			want := obj.DeepCopyObject()
			visit(reflect.ValueOf(want).Elem(), byType, reached)
			if diff := cmp.Diff(objecttest.JSON(t, want), objecttest.JSON(t, obj)); diff != "" {
				t.Fatalf("%v, seed %d: a value was not defaulted (-want +got):\n%s", gvk, seed, diff)
			}
		}
	}
	for typ := range byType {
		if !reached[typ] {
			t.Errorf("no object had a %v", typ)
		}
	}
}

// visit calls the functions for v and for all values in it, outer values first.
func visit(v reflect.Value, byType map[reflect.Type]reflect.Value, reached map[reflect.Type]bool) {
	if f, ok := byType[v.Type()]; ok && v.CanAddr() {
		reached[v.Type()] = true
		f.Call([]reflect.Value{v.Addr()})
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(v.Elem(), byType, reached)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				visit(v.Field(i), byType, reached)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), byType, reached)
		}
	}
}
