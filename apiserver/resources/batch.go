package resources

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubecascade/kubecascade/finalizers"
)

func batch() []*Resource {
	return group(batchv1.SchemeGroupVersion,
		&Resource{Plural: "cronjobs", New: of[batchv1.CronJob], Namespaced: true, ShortNames: []string{"cj"},
			Categories: inAll, Strategy: Strategy{Generation: SpecGeneration}, Subresources: withStatus},
		&Resource{Plural: "jobs", New: of[batchv1.Job], Namespaced: true,
			Categories: inAll, Strategy: Strategy{Generation: SpecGeneration}, Subresources: withStatus,
			Delete: Deletion{Policy: finalizers.OrphanDependents, Warning: jobWarning}}, // C-23, C-24
	)
}
