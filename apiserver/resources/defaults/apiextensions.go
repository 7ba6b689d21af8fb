package defaults

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// CustomResourceDefinition derives names from the kind and lists the version that objects are
// stored in.
func CustomResourceDefinition(c *apiextensionsv1.CustomResourceDefinition) {
	fill(&c.Spec.Names.Singular, strings.ToLower(c.Spec.Names.Kind))
	if c.Spec.Names.Kind != "" {
		fill(&c.Spec.Names.ListKind, c.Spec.Names.Kind+"List")
	}
	set(&c.Spec.Conversion, apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter})
	if w := c.Spec.Conversion.Webhook; w != nil && w.ClientConfig != nil && w.ClientConfig.Service != nil {
		ServicePort(w.ClientConfig.Service)
	}
	if len(c.Status.StoredVersions) > 0 {
		return
	}
	for _, v := range c.Spec.Versions {
		if v.Storage {
			c.Status.StoredVersions = []string{v.Name}
			return
		}
	}
}

// APIService fills in the port of the server that it names.
func APIService(a *apiregistrationv1.APIService) {
	if a.Spec.Service != nil {
		set(&a.Spec.Service.Port, 443)
	}
}

// ServicePort fills in the port of a webhook's service.
func ServicePort(s *apiextensionsv1.ServiceReference) { set(&s.Port, 443) }
