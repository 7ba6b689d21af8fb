package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/finalizers"
)

func pods() *entry.Resource {
	return &entry.Resource{
		Plural: "pods", New: entry.New[corev1.Pod], Namespaced: true,
		ShortNames: []string{"po"}, Categories: entry.All,
		Strategy: entry.Strategy{
			Generation:    entry.SpecGeneration,
			OwnStatus:     true,
			Default:       entry.Default(defaultPod),
			Prepare:       entry.Prepare(createPod, updatePod),
			Validate:      entry.ValidateEither(validatePod, validatePodUpdate),
			EarlyWarnings: entry.EarlyWarn(appArmorWarnings),
			Warnings:      entry.Warn(podWarnings),
		},
		Delete:       entry.Deletion{Returned: true, Kind: podKind},
		Subresources: podSubresources(),
		Selection: entry.Selection{Selectable: []entry.Field{
			{Label: "spec.nodeName"},
			{Label: "spec.restartPolicy", Unset: "Always"},
			{Label: "spec.schedulerName", Unset: "default-scheduler"},
			{Label: "spec.serviceAccountName"},
			{Label: "spec.hostNetwork", Unset: "false"},
			{Label: "status.phase"},
			{Label: "status.podIP"},
			{Label: "status.podIPs", Empty: true}, // K registry/core/pod/strategy.go:ToSelectableFields
			{Label: "status.nominatedNodeName"},
		}, FieldAliases: map[string]string{"spec.host": "spec.nodeName"}},
		Table: podTable(),
	}
}

func podSubresources() []entry.Subresource {
	return []entry.Subresource{
		{
			Name: "attach", Verbs: entry.Stream, Action: entry.Upgraded, Connect: stream("attach"),
			Kind: corev1.SchemeGroupVersion.WithKind("PodAttachOptions"),
		},
		{Name: "binding", Verbs: entry.Post, Action: entry.ByHook, Create: bindPod,
			Kind: corev1.SchemeGroupVersion.WithKind("Binding")},
		{Name: "ephemeralcontainers", Verbs: entry.Modify, Action: entry.Part,
			PrepareUpdate:  entry.Change(ephemeralContainers),
			ValidateUpdate: entry.ValidateChange(validatePodEphemeral),
		},
		{Name: "eviction", Verbs: entry.Post, Action: entry.ByHook, Create: evictPod,
			Kind: schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}},
		{
			Name: "exec", Verbs: entry.Stream, Action: entry.Upgraded, Connect: stream("exec"),
			Kind: corev1.SchemeGroupVersion.WithKind("PodExecOptions"),
		},
		{
			Name: "log", Verbs: []string{"get"}, Action: entry.Logged, Connect: podLog,
			Options: corev1.SchemeGroupVersion.WithKind("PodLogOptions"),
		},
		{
			Name: "portforward", Verbs: entry.Stream, Action: entry.Upgraded, Connect: stream("portForward"),
			Kind: corev1.SchemeGroupVersion.WithKind("PodPortForwardOptions"),
		},
		{
			Name: "proxy", Verbs: entry.Tunnel, Action: entry.Proxied, Connect: proxyPod,
			Kind: corev1.SchemeGroupVersion.WithKind("PodProxyOptions"),
		},
		{Name: "resize", Verbs: entry.Modify, Action: entry.Part,
			PrepareUpdate:  entry.Change(resizePod),
			ValidateUpdate: entry.ValidateChange(validatePodResize),
		},
		entry.StatusWith(entry.Subresource{
			PrepareUpdate:  entry.Change(keepPodStatus),
			ValidateUpdate: entry.ValidateChange(validatePodStatus),
			Warnings:       entry.Warn(podStatusWarnings),
		}),
	}
}

// podKind returns the deletion rules of a pod. Only pods are deleted gracefully. A pod that never started or has
// finished is removed at once (C-30).
func podKind(obj runtime.Object) finalizers.Kind {
	pod := obj.(*corev1.Pod)
	return finalizers.Kind{
		Graceful:            true,
		DefaultGraceSeconds: pod.Spec.TerminationGracePeriodSeconds,
		GraceForbidden: pod.Spec.NodeName == "" ||
			pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed,
	}
}
