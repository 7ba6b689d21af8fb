package validation

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// workloads are pods and the kinds that make them.
var workloads = map[schema.GroupKind]Kind{
	{Kind: "Pod"}: {
		Create: one(pod), Update: two(podUpdate), Status: two(podStatus),
		Parts: map[string]func(obj, old runtime.Object) field.ErrorList{
			"ephemeralcontainers": two(podEphemeral), "resize": two(podResize),
		},
	},
	{Kind: "PodTemplate"}:           {Create: one(podTemplate), Update: two(podTemplateUpdate)},
	{Kind: "ReplicationController"}: {Create: one(replicationController), Update: two(replicationControllerUpdate), Status: two(replicationControllerStatus)},

	{Group: "apps", Kind: "ReplicaSet"}:  {Create: one(replicaSet), Update: two(replicaSetUpdate), Status: two(replicaSetStatus)},
	{Group: "apps", Kind: "Deployment"}:  {Create: one(deployment), Update: two(deploymentUpdate), Status: two(deploymentStatus)},
	{Group: "apps", Kind: "StatefulSet"}: {Create: one(statefulSet), Update: two(statefulSetUpdate), Status: two(statefulSetStatus)},
	{Group: "apps", Kind: "DaemonSet"}:   {Create: one(daemonSet), Update: two(daemonSetUpdate), Status: two(daemonSetStatus)},

	{Group: "batch", Kind: "Job"}:     {Create: one(job), Update: two(jobUpdate), Status: two(jobStatus)},
	{Group: "batch", Kind: "CronJob"}: {Create: one(cronJob), Update: two(cronJobUpdate)},
}
