package defaults

import (
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// For returns what defaults objects of a kind, nil if nothing does. The function takes a pointer
// to the kind's Go type and leaves any other object alone.
func For(gvk schema.GroupVersionKind) func(runtime.Object) { return table[gvk] }

// Kinds returns the kinds that have defaults, in order of their text.
func Kinds() []schema.GroupVersionKind {
	return slices.SortedFunc(maps.Keys(table), func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.String(), b.String())
	})
}

var table = map[schema.GroupVersionKind]func(runtime.Object){
	admissionv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicy"):          of(MutatingAdmissionPolicy),
	admissionv1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicyBinding"):   of(MutatingAdmissionPolicyBinding),
	admissionv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"):     of(MutatingWebhookConfiguration),
	admissionv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicy"):        of(ValidatingAdmissionPolicy),
	admissionv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicyBinding"): of(ValidatingAdmissionPolicyBinding),
	admissionv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"):   of(ValidatingWebhookConfiguration),
	apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"):     kept(CustomResourceDefinition),
	apiregistrationv1.SchemeGroupVersion.WithKind("APIService"):                 of(APIService),
	appsv1.SchemeGroupVersion.WithKind("DaemonSet"):                             of(DaemonSet),
	appsv1.SchemeGroupVersion.WithKind("Deployment"):                            of(Deployment),
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"):                            of(ReplicaSet),
	appsv1.SchemeGroupVersion.WithKind("StatefulSet"):                           of(StatefulSet),
	authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"):                kept(TokenRequest),
	autoscalingv1.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"):        of(HorizontalPodAutoscalerV1),
	autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"):        of(HorizontalPodAutoscaler),
	batchv1.SchemeGroupVersion.WithKind("CronJob"):                              of(CronJob),
	batchv1.SchemeGroupVersion.WithKind("Job"):                                  of(Job),
	corev1.SchemeGroupVersion.WithKind("Endpoints"):                             of(Endpoints),
	corev1.SchemeGroupVersion.WithKind("LimitRange"):                            of(LimitRange),
	corev1.SchemeGroupVersion.WithKind("Namespace"):                             of(Namespace),
	corev1.SchemeGroupVersion.WithKind("Node"):                                  of(Node),
	corev1.SchemeGroupVersion.WithKind("PersistentVolume"):                      of(PersistentVolume),
	corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"):                 of(PersistentVolumeClaim),
	corev1.SchemeGroupVersion.WithKind("Pod"):                                   of(Pod),
	corev1.SchemeGroupVersion.WithKind("PodTemplate"):                           of(PodTemplate),
	corev1.SchemeGroupVersion.WithKind("ReplicationController"):                 of(ReplicationController),
	corev1.SchemeGroupVersion.WithKind("ResourceQuota"):                         of(ResourceQuota),
	corev1.SchemeGroupVersion.WithKind("Secret"):                                of(Secret),
	corev1.SchemeGroupVersion.WithKind("Service"):                               of(Service),
	discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"):                    of(EndpointSlice),
	flowcontrolv1.SchemeGroupVersion.WithKind("FlowSchema"):                     of(FlowSchema),
	flowcontrolv1.SchemeGroupVersion.WithKind("PriorityLevelConfiguration"):     of(PriorityLevelConfiguration),
	networkingv1.SchemeGroupVersion.WithKind("IngressClass"):                    of(IngressClass),
	networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"):                   of(NetworkPolicy),
	networkingv1.SchemeGroupVersion.WithKind("Ingress"):                         of(nothing[networkingv1.Ingress]),
	rbacv1.SchemeGroupVersion.WithKind("ClusterRole"):                           of(nothing[rbacv1.ClusterRole]),
	rbacv1.SchemeGroupVersion.WithKind("Role"):                                  of(nothing[rbacv1.Role]),
	storagev1.SchemeGroupVersion.WithKind("CSINode"):                            of(nothing[storagev1.CSINode]),
	nodev1.SchemeGroupVersion.WithKind("RuntimeClass"):                          of(RuntimeClass),
	rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"):                    of(ClusterRoleBinding),
	rbacv1.SchemeGroupVersion.WithKind("RoleBinding"):                           of(RoleBinding),
	resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"):                     of(ResourceClaim),
	resourcev1.SchemeGroupVersion.WithKind("ResourceClaimTemplate"):             of(ResourceClaimTemplate),
	resourcev1.SchemeGroupVersion.WithKind("ResourceSlice"):                     of(ResourceSlice),
	schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"):                   of(PriorityClass),
	storagev1.SchemeGroupVersion.WithKind("CSIDriver"):                          of(CSIDriver),
	storagev1.SchemeGroupVersion.WithKind("StorageClass"):                       of(StorageClass),
	storagev1.SchemeGroupVersion.WithKind("VolumeAttachment"):                   of(VolumeAttachment),
}

// of hides a kind's type, and makes empty lists nil.
func of[T any](f func(*T)) func(runtime.Object) {
	asJSON := kept(f)
	return func(obj runtime.Object) {
		asJSON(obj)
		if o, ok := any(obj).(*T); ok && o != nil {
			empty(obj)
		}
	}
}

// kept hides the type of a kind that keeps its empty lists.
func kept[T any](f func(*T)) func(runtime.Object) {
	return func(obj runtime.Object) {
		if o, ok := any(obj).(*T); ok && o != nil {
			f(o)
		}
	}
}

// nothing is for kinds that have no defaults but lists.
func nothing[T any](*T) {}

// set fills a pointer that is nil.
func set[T any](p **T, v T) {
	if *p == nil {
		*p = &v
	}
}

// fill gives an empty value another.
func fill[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
