package openapi

import (
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

var (
	allVerbs   = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	partVerbs  = []string{"get", "patch", "update"}
	statusPart = Subresource{Name: "status", Verbs: partVerbs}
	scalePart  = Subresource{
		Name: "scale", Verbs: partVerbs, Kind: schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"},
		Object: &autoscalingv1.Scale{},
	}
)

func namespaced(group, version, kind, plural string, object, list runtime.Object, subs ...Subresource) Type {
	return Type{
		Group: group, Version: version, Kind: kind, Plural: plural, Namespaced: true, Verbs: allVerbs, Object: object,
		List: list, Subresources: subs,
	}
}

func cluster(group, version, kind, plural string, object, list runtime.Object, subs ...Subresource) Type {
	t := namespaced(group, version, kind, plural, object, list, subs...)
	t.Namespaced = false
	return t
}

// served are types that together have every kind of Go type in the API.
func served() []Type {
	pods := namespaced("", "v1", "Pod", "pods", &corev1.Pod{}, &corev1.PodList{}, statusPart,
		Subresource{
			Name: "binding", Verbs: []string{"create"}, Object: &corev1.Binding{},
			Kind: schema.GroupVersionKind{Version: "v1", Kind: "Binding"},
		},
		Subresource{Name: "ephemeralcontainers", Verbs: partVerbs},
		Subresource{
			Name: "exec", Kind: corev1.SchemeGroupVersion.WithKind("PodExecOptions"), Options: &corev1.PodExecOptions{},
		},
		Subresource{Name: "log", Options: &corev1.PodLogOptions{}},
		Subresource{
			Name: "proxy", Kind: corev1.SchemeGroupVersion.WithKind("PodProxyOptions"), Options: &corev1.PodProxyOptions{},
			Proxied: true,
		},
		Subresource{
			Name: "eviction", Verbs: []string{"create"}, Object: &policyv1.Eviction{},
			Kind: schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"},
		})
	pods.DeletesReturnObject = true
	services := namespaced("", "v1", "Service", "services", &corev1.Service{}, &corev1.ServiceList{}, statusPart)
	services.DeletesReturnObject = true
	claims := namespaced("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", &corev1.PersistentVolumeClaim{},
		&corev1.PersistentVolumeClaimList{}, statusPart)
	claims.DeletesReturnObject = true
	accounts := namespaced("", "v1", "ServiceAccount", "serviceaccounts", &corev1.ServiceAccount{},
		&corev1.ServiceAccountList{},
		Subresource{
			Name: "token", Verbs: []string{"create"}, Object: &authenticationv1.TokenRequest{},
			Kind: schema.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"},
		})
	accounts.DeletesReturnObject = true
	spaces := cluster("", "v1", "Namespace", "namespaces", &corev1.Namespace{}, &corev1.NamespaceList{}, statusPart,
		Subresource{Name: "finalize", Verbs: []string{"update"}})
	spaces.Verbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	bindings := namespaced("", "v1", "Binding", "bindings", &corev1.Binding{}, nil)
	bindings.Verbs = []string{"create"}
	reviews := cluster("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", &authenticationv1.TokenReview{}, nil)
	reviews.Verbs = []string{"create"}
	quotas := namespaced(
		"", "v1", "ResourceQuota", "resourcequotas", &corev1.ResourceQuota{}, &corev1.ResourceQuotaList{}, statusPart)
	quotas.DeletesReturnObject = true
	volumes := cluster(
		"", "v1", "PersistentVolume", "persistentvolumes", &corev1.PersistentVolume{}, &corev1.PersistentVolumeList{},
		statusPart)
	volumes.DeletesReturnObject = true
	return []Type{
		quotas, volumes, pods, services, claims, accounts, spaces, bindings, reviews,
		namespaced("", "v1", "ConfigMap", "configmaps", &corev1.ConfigMap{}, &corev1.ConfigMapList{}),
		namespaced("", "v1", "Secret", "secrets", &corev1.Secret{}, &corev1.SecretList{}),
		namespaced("", "v1", "Event", "events", &corev1.Event{}, &corev1.EventList{}),
		namespaced("", "v1", "Endpoints", "endpoints", &corev1.Endpoints{}, &corev1.EndpointsList{}),
		namespaced("", "v1", "LimitRange", "limitranges", &corev1.LimitRange{}, &corev1.LimitRangeList{}),
		cluster("", "v1", "Node", "nodes", &corev1.Node{}, &corev1.NodeList{}, statusPart),
		namespaced(
			"apps", "v1", "Deployment", "deployments", &appsv1.Deployment{}, &appsv1.DeploymentList{}, statusPart, scalePart,
		),
		namespaced(
			"apps", "v1", "ReplicaSet", "replicasets", &appsv1.ReplicaSet{}, &appsv1.ReplicaSetList{}, statusPart, scalePart,
		),
		namespaced(
			"apps", "v1", "StatefulSet", "statefulsets", &appsv1.StatefulSet{}, &appsv1.StatefulSetList{}, statusPart, scalePart,
		),
		namespaced("apps", "v1", "DaemonSet", "daemonsets", &appsv1.DaemonSet{}, &appsv1.DaemonSetList{}, statusPart),
		namespaced("apps", "v1", "ControllerRevision", "controllerrevisions", &appsv1.ControllerRevision{},
			&appsv1.ControllerRevisionList{}),
		namespaced("batch", "v1", "Job", "jobs", &batchv1.Job{}, &batchv1.JobList{}, statusPart),
		namespaced("batch", "v1", "CronJob", "cronjobs", &batchv1.CronJob{}, &batchv1.CronJobList{}, statusPart),
		namespaced(
			"autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", &autoscalingv2.HorizontalPodAutoscaler{},
			&autoscalingv2.HorizontalPodAutoscalerList{}, statusPart),
		namespaced("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", &discoveryv1.EndpointSlice{},
			&discoveryv1.EndpointSliceList{}),
		namespaced("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", &policyv1.PodDisruptionBudget{},
			&policyv1.PodDisruptionBudgetList{}, statusPart),
		cluster("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas", &flowcontrolv1.FlowSchema{},
			&flowcontrolv1.FlowSchemaList{}, statusPart),
		cluster("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
			&apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinitionList{}, statusPart),
	}
}

// cronTabs is a custom resource whose structural schema has an embedded object.
func cronTabs() Type {
	body := func() *spec.Schema {
		template := new(spec.Schema).Typed("object", "")
		template.AddExtension("x-kubernetes-embedded-resource", true)
		template.AddExtension("x-kubernetes-preserve-unknown-fields", true)
		inner := new(spec.Schema).Typed("object", "").
			SetProperty("cronSpec", *spec.StringProperty()).
			SetProperty("replicas", *spec.Int32Property()).
			SetProperty("template", *template).
			WithRequired("cronSpec")
		return new(spec.Schema).Typed("object", "").WithDescription("A table of times.").SetProperty("spec", *inner)
	}
	return Type{
		Group: "stable.example.com", Version: "v1", Kind: "CronTab", Plural: "crontabs", Namespaced: true, Verbs: allVerbs,
		Subresources: []Subresource{{Name: "status", Verbs: partVerbs}, {Name: "scale", Verbs: partVerbs,
			Kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"), Object: &autoscalingv1.Scale{}}},
		Custom: &Custom{
			ListKind: "CronTabList", Sum: "1", Schema: func(bool) (*spec.Schema, error) { return body(), nil },
		},
	}
}
