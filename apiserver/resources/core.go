package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources/core/componentstatus"
	"github.com/kubecascade/kubecascade/apiserver/resources/core/pod"
	"github.com/kubecascade/kubecascade/apiserver/resources/core/service"
	"github.com/kubecascade/kubecascade/apiserver/resources/core/serviceaccount"
	"github.com/kubecascade/kubecascade/apiserver/resources/hooks"
	"github.com/kubecascade/kubecascade/finalizers"
)

func core() []*Resource {
	return group(corev1.SchemeGroupVersion,
		&Resource{Plural: "bindings", New: of[corev1.Binding], Namespaced: true, Verbs: post, Virtual: true,
			Hooks: hooks.Hooks{Create: pod.CreateBinding}},
		&Resource{Plural: "componentstatuses", New: of[corev1.ComponentStatus], ShortNames: []string{"cs"},
			Verbs: []string{"get", "list"}, Virtual: true, Hooks: hooks.Hooks{Objects: componentstatus.Objects}},
		&Resource{Plural: "configmaps", New: of[corev1.ConfigMap], Namespaced: true, ShortNames: []string{"cm"}},
		&Resource{Plural: "endpoints", New: of[corev1.Endpoints], Namespaced: true, ShortNames: []string{"ep"},
			Collection: "services/endpoints", Strategy: Strategy{CreateOnUpdate: true}},
		&Resource{Plural: "events", New: of[corev1.Event], Namespaced: true, ShortNames: []string{"ev"},
			// ValidateEventCreate asks events of this version for nothing but a path segment.
			Strategy: Strategy{CreateOnUpdate: true, PlainMeta: true},
			Delete:   Deletion{Policy: finalizers.Unsupported}, Expires: true},
		&Resource{Plural: "limitranges", New: of[corev1.LimitRange], Namespaced: true, ShortNames: []string{"limits"},
			Strategy: Strategy{CreateOnUpdate: true}},
		&Resource{Plural: "namespaces", New: of[corev1.Namespace], ShortNames: []string{"ns"},
			Verbs:    []string{"create", "delete", "get", "list", "patch", "update", "watch"},
			Strategy: Strategy{Name: validation.ValidateNamespaceName},
			Delete:   Deletion{Returned: true, Kind: namespaceKind, SpecFinalizers: namespaceFinalizers, Mark: terminateNamespace},
			Subresources: []Subresource{
				{Name: "finalize", Verbs: []string{"update"}, Action: Part}, status}},
		&Resource{Plural: "nodes", New: of[corev1.Node], ShortNames: []string{"no"}, Collection: "minions",
			Subresources: []Subresource{
				{Name: "proxy", Verbs: tunnel, Action: Unserved, Kind: coreKind("NodeProxyOptions")}, status}},
		&Resource{Plural: "persistentvolumeclaims", New: of[corev1.PersistentVolumeClaim], Namespaced: true,
			ShortNames: []string{"pvc"}, Delete: Deletion{Returned: true}, Subresources: withStatus},
		&Resource{Plural: "persistentvolumes", New: of[corev1.PersistentVolume], ShortNames: []string{"pv"},
			Delete: Deletion{Returned: true}, Subresources: withStatus},
		&Resource{Plural: "pods", New: of[corev1.Pod], Namespaced: true, ShortNames: []string{"po"}, Categories: inAll,
			Strategy: Strategy{Generation: SpecGeneration}, Delete: Deletion{Returned: true, Kind: podKind},
			Subresources: podSubresources},
		&Resource{Plural: "podtemplates", New: of[corev1.PodTemplate], Namespaced: true,
			Strategy: Strategy{Generation: TemplateGeneration}, Delete: Deletion{Returned: true}},
		&Resource{Plural: "replicationcontrollers", New: of[corev1.ReplicationController], Namespaced: true,
			ShortNames: []string{"rc"}, Categories: inAll, Collection: "controllers",
			Strategy: Strategy{Generation: SpecGeneration}, Delete: Deletion{Policy: finalizers.OrphanDependents}, // C-23, C-25
			Subresources: []Subresource{scale, status}},
		&Resource{Plural: "resourcequotas", New: of[corev1.ResourceQuota], Namespaced: true, ShortNames: []string{"quota"},
			Delete: Deletion{Returned: true}, Subresources: withStatus},
		&Resource{Plural: "secrets", New: of[corev1.Secret], Namespaced: true},
		&Resource{Plural: "serviceaccounts", New: of[corev1.ServiceAccount], Namespaced: true, ShortNames: []string{"sa"},
			Delete: Deletion{Returned: true},
			Subresources: []Subresource{{Name: "token", Verbs: post, Action: Create, Create: serviceaccount.CreateToken,
				Kind: schema.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}}}},
		&Resource{Plural: "services", New: of[corev1.Service], Namespaced: true, ShortNames: []string{"svc"}, Categories: inAll,
			Collection: "services/specs", Delete: Deletion{Returned: true}, Hooks: hooks.Hooks{Begin: service.Begin},
			Strategy: Strategy{CreateOnUpdate: true, Name: validation.NameIsDNSLabel},
			Subresources: []Subresource{
				{Name: "proxy", Verbs: tunnel, Action: Unserved, Kind: coreKind("ServiceProxyOptions")}, status}},
	)
}

var podSubresources = []Subresource{
	{Name: "attach", Verbs: stream, Action: Unserved, Kind: coreKind("PodAttachOptions")},
	{Name: "binding", Verbs: post, Action: Create, Create: pod.Bind, Kind: coreKind("Binding")},
	{Name: "ephemeralcontainers", Verbs: modify, Action: Part},
	{Name: "eviction", Verbs: post, Action: Create, Create: pod.Evict,
		Kind: schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}},
	{Name: "exec", Verbs: stream, Action: Unserved, Kind: coreKind("PodExecOptions")},
	{Name: "log", Verbs: []string{"get"}, Action: Unserved},
	{Name: "portforward", Verbs: stream, Action: Unserved, Kind: coreKind("PodPortForwardOptions")},
	{Name: "proxy", Verbs: tunnel, Action: Unserved, Kind: coreKind("PodProxyOptions")},
	{Name: "resize", Verbs: modify, Action: Part},
	status,
}

func coreKind(kind string) schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(kind) }
