package resources

import (
	"k8s.io/apimachinery/pkg/api/validation/path"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func apiregistration() []*Resource {
	return group(apiregistrationv1.SchemeGroupVersion,
		&Resource{Plural: "apiservices", New: of[apiregistrationv1.APIService], Categories: apiExtensions,
			Collection: "apiregistration.k8s.io/apiservices",
			Strategy:   Strategy{Conditional: true, CustomMeta: true, Name: path.ValidatePathSegmentName}, Subresources: withStatus},
	)
}
