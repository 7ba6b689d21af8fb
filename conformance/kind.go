package conformance

import "strings"

// Kind is a resource of the server under test.
type Kind struct {
	// Group is empty for the core group.
	Group, Version string
	// Name is the kind's name in objects, Plural its name in paths.
	Name, Plural string
	// ClusterScoped kinds have no namespace in their path.
	ClusterScoped bool
	// Fields is the JSON of a new object without its metadata, or empty.
	Fields string
}

// podTemplate is a template of owners that create no pods: they have no replicas, or are suspended.
const podTemplate = `"template":{"metadata":{"labels":{"conformance":"case"}},"spec":{"containers":[{"name":"c","image":"conformance.example.com/none"}]}}`

// The kinds of the objects in cases. They are harmless on a real cluster: no containers run because of them.
var (
	ConfigMap   = Kind{Version: "v1", Name: "ConfigMap", Plural: "configmaps"}
	Secret      = Kind{Version: "v1", Name: "Secret", Plural: "secrets"}
	Event       = Kind{Version: "v1", Name: "Event", Plural: "events"}
	Namespace   = Kind{Version: "v1", Name: "Namespace", Plural: "namespaces", ClusterScoped: true}
	ClusterRole = Kind{
		Group: "rbac.authorization.k8s.io", Version: "v1", Name: "ClusterRole", Plural: "clusterroles", ClusterScoped: true,
	}
	// Pod has the name of a scheduler that does not exist.
	Pod = Kind{Version: "v1", Name: "Pod", Plural: "pods",
		Fields: `{"spec":{"schedulerName":"conformance.example.com-none","automountServiceAccountToken":false,"containers":[{"name":"c","image":"conformance.example.com/none"}]}}`}
	ReplicationController = Kind{Version: "v1", Name: "ReplicationController", Plural: "replicationcontrollers",
		Fields: `{"spec":{"replicas":0,"selector":{"conformance":"case"},` + podTemplate + `}}`}
	ReplicaSet = Kind{Group: "apps", Version: "v1", Name: "ReplicaSet", Plural: "replicasets",
		Fields: `{"spec":{"replicas":0,"selector":{"matchLabels":{"conformance":"case"}},` + podTemplate + `}}`}
	StatefulSet = Kind{Group: "apps", Version: "v1", Name: "StatefulSet", Plural: "statefulsets",
		Fields: `{"spec":{"replicas":0,"serviceName":"none","selector":{"matchLabels":{"conformance":"case"}},` +
			podTemplate + `}}`}
	Job = Kind{Group: "batch", Version: "v1", Name: "Job", Plural: "jobs",
		Fields: `{"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"conformance.example.com/none"}]}}}}`}
	CronJob = Kind{Group: "batch", Version: "v1", Name: "CronJob", Plural: "cronjobs",
		Fields: `{"spec":{"suspend":true,"schedule":"0 0 1 1 *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"conformance.example.com/none"}]}}}}}}`}
	// Autoscaler is served in two versions; v2 is the preferred one.
	Autoscaler = Kind{Group: "autoscaling", Version: "v2", Name: "HorizontalPodAutoscaler",
		Plural: "horizontalpodautoscalers",
		Fields: `{"spec":{"maxReplicas":1,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"none"}}}`}
	ValidatingPolicy  = admissionKind("ValidatingAdmissionPolicy", "validatingadmissionpolicies")
	ValidatingBinding = admissionKind("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings")
	ValidatingWebhook = admissionKind("ValidatingWebhookConfiguration", "validatingwebhookconfigurations")
	Definition        = Kind{
		Group: "apiextensions.k8s.io", Version: "v1", Name: "CustomResourceDefinition", Plural: "customresourcedefinitions",
		ClusterScoped: true,
	}
)

// admissionKind returns a kind of the group admissionregistration.k8s.io.
func admissionKind(name, plural string) Kind {
	return Kind{
		Group: "admissionregistration.k8s.io", Version: "v1", Name: name, Plural: plural, ClusterScoped: true,
	}
}

// APIVersion returns the apiVersion of the kind's objects and of references to them.
func (k Kind) APIVersion() string { return strings.TrimPrefix(k.Group+"/"+k.Version, "/") }

// Path returns the path of the collection in a namespace, or with a name the path of an object.
func (k Kind) Path(namespace, name string) string {
	path := "/api/" + k.Version
	if k.Group != "" {
		path = "/apis/" + k.Group + "/" + k.Version
	}
	if !k.ClusterScoped {
		path += "/namespaces/" + namespace
	}
	path += "/" + k.Plural
	if name != "" {
		path += "/" + name
	}
	return path
}
