package admission

import "slices"

// pluginNames are the plugins of kube-apiserver v1.37, in the order in which they run (K
// pkg/kubeapiserver/options/plugins.go: AllOrderedPlugins; RegisterAllAdmissionPlugins and AS pkg/server/plugins.go
// register all of them). The names of plugins of other versions are rejected.
var pluginNames = []string{
	"AlwaysAdmit",
	"NamespaceAutoProvision",
	"NamespaceLifecycle",
	"NamespaceExists",
	"LimitPodHardAntiAffinityTopology",
	"LimitRanger",
	"ServiceAccount",
	"NodeRestriction",
	"TaintNodesByCondition",
	"AlwaysPullImages",
	"ImagePolicyWebhook",
	"PodSecurity",
	"PodNodeSelector",
	"Priority",
	"DefaultTolerationSeconds",
	"PodTolerationRestriction",
	"EventRateLimit",
	"ExtendedResourceToleration",
	"DefaultStorageClass",
	"StorageObjectInUseProtection",
	"PodGroupProtection",
	"OwnerReferencesPermissionEnforcement",
	"PersistentVolumeClaimResize",
	"RuntimeClass",
	"CertificateApproval",
	"CertificateSigning",
	"ClusterTrustBundleAttest",
	"CertificateSubjectRestriction",
	"DefaultIngressClass",
	"DenyServiceExternalIPs",
	"PodTopologyLabels",
	"PodGroupWorkloadExists",
	"NodeDeclaredFeatureValidator",
	"JobValidation",
	"PodResizeValidator",
	"MutatingAdmissionPolicy",
	"MutatingAdmissionWebhook",
	"ValidatingAdmissionPolicy",
	"ValidatingAdmissionWebhook",
	"ResourceQuota",
	"AlwaysDeny",
}

// Names returns the names that --enable-admission-plugins and --disable-admission-plugins accept, in the order in which
// the plugins run. This server does not have all of these plugins.
func Names() []string { return slices.Clone(pluginNames) }
