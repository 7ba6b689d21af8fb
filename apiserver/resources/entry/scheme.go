package entry

import (
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// Scheme returns the scheme with the types of metav1, of the versions that can be served, and of those that are only
// stored. It has neither internal types nor conversions. It is built at the first call and never changes.
func Scheme() *runtime.Scheme { return scheme() }

var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(
		corev1.AddToScheme, admissionv1.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme,
		appsv1.AddToScheme, authenticationv1.AddToScheme, authorizationv1.AddToScheme, autoscalingv1.AddToScheme,
		autoscalingv2.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme, coordinationv1.AddToScheme,
		discoveryv1.AddToScheme, eventsv1.AddToScheme, flowcontrolv1.AddToScheme, networkingv1.AddToScheme,
		nodev1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme, resourcev1.AddToScheme,
		schedulingv1.AddToScheme, storagev1.AddToScheme, storagemigrationv1.AddToScheme,
		metav1.AddMetaToScheme,
	)
	if err := builder.AddToScheme(s); err != nil {
		panic(err) // impossible: no two types have the same name
	}
	// Of the groups' other versions the scheme has only the kinds that can be served.
	for gv, kinds := range map[schema.GroupVersion][]runtime.Object{
		admissionv1beta1.SchemeGroupVersion: {
			&admissionv1beta1.MutatingAdmissionPolicy{}, &admissionv1beta1.MutatingAdmissionPolicyList{},
			&admissionv1beta1.MutatingAdmissionPolicyBinding{}, &admissionv1beta1.MutatingAdmissionPolicyBindingList{}},
		admissionv1alpha1.SchemeGroupVersion: {
			&admissionv1alpha1.MutatingAdmissionPolicy{}, &admissionv1alpha1.MutatingAdmissionPolicyList{},
			&admissionv1alpha1.MutatingAdmissionPolicyBinding{}, &admissionv1alpha1.MutatingAdmissionPolicyBindingList{}},
		certificatesv1beta1.SchemeGroupVersion: {
			&certificatesv1beta1.ClusterTrustBundle{}, &certificatesv1beta1.ClusterTrustBundleList{},
			&certificatesv1beta1.PodCertificateRequest{}, &certificatesv1beta1.PodCertificateRequestList{}},
		storagemigrationv1beta1.SchemeGroupVersion: {
			&storagemigrationv1beta1.StorageVersionMigration{}, &storagemigrationv1beta1.StorageVersionMigrationList{}},
		metricsv1beta1.SchemeGroupVersion: {
			&metricsv1beta1.NodeMetrics{}, &metricsv1beta1.NodeMetricsList{},
			&metricsv1beta1.PodMetrics{}, &metricsv1beta1.PodMetricsList{}},
		resourcev1beta1.SchemeGroupVersion: {
			&resourcev1beta1.DeviceClass{}, &resourcev1beta1.DeviceClassList{},
			&resourcev1beta1.ResourceClaim{}, &resourcev1beta1.ResourceClaimList{},
			&resourcev1beta1.ResourceClaimTemplate{}, &resourcev1beta1.ResourceClaimTemplateList{},
			&resourcev1beta1.ResourceSlice{}, &resourcev1beta1.ResourceSliceList{}},
		resourcev1beta2.SchemeGroupVersion: {
			&resourcev1beta2.DeviceClass{}, &resourcev1beta2.DeviceClassList{},
			&resourcev1beta2.DeviceTaintRule{}, &resourcev1beta2.DeviceTaintRuleList{},
			&resourcev1beta2.ResourceClaim{}, &resourcev1beta2.ResourceClaimList{},
			&resourcev1beta2.ResourceClaimTemplate{}, &resourcev1beta2.ResourceClaimTemplateList{},
			&resourcev1beta2.ResourceSlice{}, &resourcev1beta2.ResourceSliceList{}},
	} {
		s.AddKnownTypes(gv, kinds...)
		metav1.AddToGroupVersion(s, gv)
	}
	s.AddKnownTypes(apiextensionsv1beta1.SchemeGroupVersion, &apiextensionsv1beta1.CustomResourceDefinition{})
	return s
})
