package prepare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// createDefinition lists the version that objects will be stored in.
func createDefinition(d *apiextensionsv1.CustomResourceDefinition) {
	d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	listStored(d)
}

// updateDefinition adds the version that objects are stored in from now on.
func updateDefinition(d, _ *apiextensionsv1.CustomResourceDefinition) { listStored(d) }

func listStored(d *apiextensionsv1.CustomResourceDefinition) {
	for _, v := range d.Spec.Versions {
		if !v.Storage {
			continue
		}
		if !slices.Contains(d.Status.StoredVersions, v.Name) {
			d.Status.StoredVersions = append(slices.Clone(d.Status.StoredVersions), v.Name)
		}
		return
	}
}

// definitionWarnings warns of formats that schemas name and the server doesn't check; on update,
// of those that are new.
func definitionWarnings(d, old *apiextensionsv1.CustomResourceDefinition) []string {
	known := map[string]bool{}
	if old != nil {
		for _, format := range unknownFormats(old) {
			known[format] = true
		}
	}
	var texts []string
	for _, format := range unknownFormats(d) {
		if !known[format] {
			texts = append(texts, fmt.Sprintf("unrecognized format %q", format))
		}
	}
	return texts
}

func unknownFormats(d *apiextensionsv1.CustomResourceDefinition) []string {
	var formats []string
	for i := range d.Spec.Versions {
		if s := d.Spec.Versions[i].Schema; s != nil {
			eachSchema(s.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
				if s.Format != "" && !knownFormat(s.Type, s.Format) {
					formats = append(formats, s.Format)
				}
			})
		}
	}
	return formats
}

// stringFormats are those of apiextensions' supportedVersionedFormats, without their dashes.
var stringFormats = []string{
	"bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5",
	"isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date", "duration",
	"datetime", "k8sshortname", "k8slongname",
}

func knownFormat(typ, format string) bool {
	switch typ {
	case "", "string":
		return slices.Contains(stringFormats, strings.ReplaceAll(format, "-", ""))
	case "integer":
		return format == "int32" || format == "int64"
	case "number":
		return format == "float" || format == "double"
	}
	return false
}

// eachSchema visits a schema and all schemas in it.
func eachSchema(s *apiextensionsv1.JSONSchemaProps, f func(*apiextensionsv1.JSONSchemaProps)) {
	if s == nil {
		return
	}
	f(s)
	if s.Items != nil {
		eachSchema(s.Items.Schema, f)
		eachOf(s.Items.JSONSchemas, f)
	}
	eachOf(s.AllOf, f)
	eachOf(s.AnyOf, f)
	eachOf(s.OneOf, f)
	eachSchema(s.Not, f)
	eachNamed(s.Properties, f)
	if s.AdditionalProperties != nil {
		eachSchema(s.AdditionalProperties.Schema, f)
	}
	eachNamed(s.PatternProperties, f)
	if s.AdditionalItems != nil {
		eachSchema(s.AdditionalItems.Schema, f)
	}
	eachNamed(s.Definitions, f)
	for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
		eachSchema(s.Dependencies[name].Schema, f)
	}
}

func eachOf(list []apiextensionsv1.JSONSchemaProps, f func(*apiextensionsv1.JSONSchemaProps)) {
	for i := range list {
		eachSchema(&list[i], f)
	}
}

func eachNamed(m map[string]apiextensionsv1.JSONSchemaProps, f func(*apiextensionsv1.JSONSchemaProps)) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		s := m[name]
		eachSchema(&s, f)
	}
}

// createAPIService says of versions that the server itself serves that they are available.
func (now clock) createAPIService(a *apiregistrationv1.APIService) {
	a.Status = apiregistrationv1.APIServiceStatus{}
	if a.Spec.Service == nil {
		a.Status.Conditions = []apiregistrationv1.APIServiceCondition{{
			Type:               apiregistrationv1.Available,
			Status:             apiregistrationv1.ConditionTrue,
			LastTransitionTime: now(),
			Reason:             "Local",
			Message:            "Local APIServices are always available",
		}}
	}
}

// apiServiceStatus keeps metadata that says something about the object (B-41).
func apiServiceStatus(a, old *apiregistrationv1.APIService) {
	a.Labels, a.Annotations = old.Labels, old.Annotations
	a.Finalizers, a.OwnerReferences = old.Finalizers, old.OwnerReferences
}
