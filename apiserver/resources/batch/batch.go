package batch

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	gates := map[string]bool{"WorkloadWithJob": false} // the gates that validation rules name
	return entry.Declared(RegisterValidations, gates, entry.Group(batchv1.SchemeGroupVersion,
		cronJobs(),
		jobs(),
	))
}
