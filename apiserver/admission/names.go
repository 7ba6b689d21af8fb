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

// handled are the operations for which upstream calls a plugin, by the plugin's name (NewHandler in
// plugin/pkg/admission and AS pkg/admission/plugin). Plugins that Kubernetes does not have are
// not in it.
var handled = map[string][]Operation{
	"NamespaceLifecycle":                   {Create, Update, Delete},
	"LimitRanger":                          {Create, Update},
	"ServiceAccount":                       {Create, Update},
	"TaintNodesByCondition":                {Create},
	"PodSecurity":                          {Create, Update},
	"Priority":                             {Create, Update, Delete},
	"DefaultTolerationSeconds":             {Create, Update},
	"DefaultStorageClass":                  {Create},
	"StorageObjectInUseProtection":         {Create},
	"OwnerReferencesPermissionEnforcement": {Create, Update},
	"PersistentVolumeClaimResize":          {Update},
	"RuntimeClass":                         {Create},
	"CertificateApproval":                  {Update},
	"CertificateSigning":                   {Update},
	"ClusterTrustBundleAttest":             {Create, Update},
	"CertificateSubjectRestriction":        {Create},
	"DefaultIngressClass":                  {Create},
	"NodeDeclaredFeatureValidator":         {Create, Update},
	"MutatingAdmissionPolicy":              {Create, Update, Connect},
	"MutatingAdmissionWebhook":             {Create, Update, Delete, Connect},
	"ValidatingAdmissionPolicy":            {Create, Update, Delete, Connect},
	"ValidatingAdmissionWebhook":           {Create, Update, Delete, Connect},
	"ResourceQuota":                        {Create, Update},
}

// Handles reports whether upstream calls the plugin for an operation.
func Handles(plugin string, o Operation) bool { return slices.Contains(handled[plugin], o) }
