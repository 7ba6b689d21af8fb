package resources

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
)

func apiextensions() []*Resource {
	return group(apiextensionsv1.SchemeGroupVersion,
		// kube-apiserver writes CustomResourceDefinitions as v1beta1, which is more compact
		// (cmd/kube-apiserver/app/server: createAPIExtensionsConfig); the storage version hash shows it.
		&Resource{Plural: "customresourcedefinitions", New: of[apiextensionsv1.CustomResourceDefinition],
			ShortNames: []string{"crd", "crds"}, Categories: apiExtensions,
			Collection: "apiextensions.k8s.io/customresourcedefinitions",
			Stored:     apiextensionsv1beta1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
			ToStored:   crdToV1beta1, FromStored: crdFromV1beta1,
			Defines:      true,
			Direct:       true,
			Strategy:     Strategy{Generation: SpecGeneration, Conditional: true, CustomMeta: true},
			Delete:       Deletion{Kind: crdKind, Mark: terminateCRD, Begin: beginCRD},
			Subresources: withStatus},
	)
}
