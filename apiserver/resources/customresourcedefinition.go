package resources

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apiextensionsinternal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func customResourceDefinitions() *entry.Resource {
	// kube-apiserver stores CustomResourceDefinitions as v1beta1, which is more compact (cmd/kube-apiserver/app/server:
	// createAPIExtensionsConfig). The storage version hash depends on that.
	return &entry.Resource{
		Plural: "customresourcedefinitions", New: entry.New[apiextensionsv1.CustomResourceDefinition],
		ShortNames: []string{"crd", "crds"}, Categories: entry.APIExtensions,
		Storage: entry.Storage{Collection: "apiextensions.k8s.io/customresourcedefinitions", Written: &entry.Written{
			Kind: apiextensionsv1beta1.SchemeGroupVersion.WithKind(crdKindName), To: crdToV1beta1, From: crdFromV1beta1,
		}, Governs: true},
		Strategy: entry.Strategy{
			Generation:    entry.SpecGeneration,
			Conditional:   true,
			Metadata:      entry.Metadata{Custom: true},
			Default:       entry.DefaultKeepingLists(defaultCustomResourceDefinition),
			PrepareCreate: entry.Create(createDefinition),
			PrepareUpdate: entry.Change(updateDefinition),
			Validate:      entry.ValidateEither(validateDefinition, validateDefinitionUpdate),
			Warnings:      entry.Warn(definitionWarnings),
		},
		Delete: entry.Deletion{
			Cleanup: apiextensionsv1.CustomResourceCleanupFinalizer, Mark: terminateCRD, Begin: beginCRD,
		},
		Subresources: entry.StatusOf(nil, validateDefinitionStatus),
		Table:        definitionTable(),
	}
}

// definitionTable returns the columns of v1.37 (V-103).
func definitionTable() entry.Table {
	return entry.Printed([]entry.Column{
		entry.NameColumn,
		entry.Text("Scope", "Cluster/Namespaced"),
		entry.Text("Versions", "Served versions"),
		entry.CreatedColumn(),
		entry.Wide(entry.Text("Group", "API group")),
		entry.Wide(entry.Text("Kind", "CustomResource kind")),
		entry.Wide(entry.Text("ShortNames", "Short names")),
		entry.Wide(entry.Boolean("Established", "Established status")),
	}, func(d *apiextensionsv1.CustomResourceDefinition) []any {
		var versions []string
		for _, v := range d.Spec.Versions {
			switch {
			case v.Served && v.Storage:
				versions = append(versions, v.Name+"(storage)")
			case v.Served:
				versions = append(versions, v.Name)
			}
		}
		slices.Sort(versions)
		type condition = apiextensionsv1.CustomResourceDefinitionCondition
		established := slices.ContainsFunc(d.Status.Conditions, func(c condition) bool {
			return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
		})
		return []any{
			string(d.Spec.Scope), strings.Join(versions, ","), d.CreationTimestamp.UTC().Format(time.RFC3339),
			d.Spec.Group, d.Spec.Names.Kind, strings.Join(d.Spec.Names.ShortNames, ","), established,
		}
	})
}

// terminateCRD sets the condition of a CustomResourceDefinition at the first DELETE (C-84). Its transition time is the
// deletionTimestamp.
func terminateCRD(obj runtime.Object) {
	crd := obj.(*apiextensionsv1.CustomResourceDefinition)
	c := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue,
		Reason:  "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	}
	if crd.DeletionTimestamp != nil {
		c.LastTransitionTime = *crd.DeletionTimestamp
	}
	for i := range crd.Status.Conditions {
		old := &crd.Status.Conditions[i]
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		*old = c
		return
	}
	crd.Status.Conditions = append(crd.Status.Conditions, c)
}

// beginCRD sets the first condition that the CustomResourceDefinition controller sets (F-10).
func beginCRD(obj runtime.Object) {
	crd := obj.(*apiextensionsv1.CustomResourceDefinition)
	for i := range crd.Status.Conditions {
		if c := &crd.Status.Conditions[i]; c.Type == apiextensionsv1.Terminating && c.Reason == "InstanceDeletionPending" {
			c.Reason, c.Message = "InstanceDeletionInProgress", "CustomResource deletion is in progress"
		}
	}
}

// defaultCustomResourceDefinition derives names from the kind and adds the storage version to the stored versions.
func defaultCustomResourceDefinition(c *apiextensionsv1.CustomResourceDefinition) {
	check.FillDefault(&c.Spec.Names.Singular, strings.ToLower(c.Spec.Names.Kind))
	if c.Spec.Names.Kind != "" {
		check.FillDefault(&c.Spec.Names.ListKind, c.Spec.Names.Kind+"List")
	}
	check.SetDefault(&c.Spec.Conversion, apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter})
	if w := c.Spec.Conversion.Webhook; w != nil && w.ClientConfig != nil && w.ClientConfig.Service != nil {
		servicePort(w.ClientConfig.Service)
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

// servicePort sets the default port of a webhook's service.
func servicePort(s *apiextensionsv1.ServiceReference) { check.SetDefault(&s.Port, 443) }

// createDefinition lists the storage version as the only stored version.
func createDefinition(d *apiextensionsv1.CustomResourceDefinition) {
	d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	listStored(d)
}

// updateDefinition adds the storage version to the stored versions.
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

// definitionWarnings returns warnings for unknown formats in schemas, and for lists of type set whose items are no
// scalars (V-072). On update it returns only new ones.
func definitionWarnings(d, old *apiextensionsv1.CustomResourceDefinition) (texts []string) {
	known, sets := check.Set(unknownFormats(old)...), objectSets(old)
	for _, format := range unknownFormats(d) {
		if !known[format] {
			texts = append(texts, fmt.Sprintf("unrecognized format %q", format))
		}
	}
	for _, of := range slices.Sorted(maps.Keys(objectSets(d))) {
		if !sets[of] {
			texts = append(texts, fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by "+
				"server-side apply or CEL validation rules", of))
		}
	}
	return texts
}

// objectSets returns the types, object or array, of the items of lists of type set.
func objectSets(d *apiextensionsv1.CustomResourceDefinition) map[string]bool {
	found := map[string]bool{}
	everySchema(d, func(s *apiextensionsv1.JSONSchemaProps) {
		if s.XListType == nil || *s.XListType != "set" || s.Items == nil || s.Items.Schema == nil {
			return
		}
		if of := s.Items.Schema.Type; of == "object" || of == "array" {
			found[of] = true
		}
	})
	return found
}

func unknownFormats(d *apiextensionsv1.CustomResourceDefinition) (formats []string) {
	everySchema(d, func(s *apiextensionsv1.JSONSchemaProps) {
		if s.Format != "" && !knownFormat(s.Type, s.Format) {
			formats = append(formats, s.Format)
		}
	})
	return formats
}

// stringFormats are the names in apiextensions' supportedVersionedFormats, without dashes.
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

// everySchema calls f for the schemas of all versions of a CustomResourceDefinition, which may be nil.
func everySchema(d *apiextensionsv1.CustomResourceDefinition, f func(*apiextensionsv1.JSONSchemaProps)) {
	if d == nil {
		return
	}
	for i := range d.Spec.Versions {
		if s := d.Spec.Versions[i].Schema; s != nil {
			eachSchema(s.OpenAPIV3Schema, f)
		}
	}
}

// eachSchema calls f for a schema and all its nested schemas.
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

// apiextensions-apiserver's own package validates CustomResourceDefinitions, in their internal type. Its errors for
// metadata are dropped, because the caller validates metadata. Two rules remain: the name follows from the spec, and a
// CustomResourceDefinition in a group of Kubernetes needs the approval annotation (AX
// pkg/apis/apiextensions/validation/validation.go:validateAPIApproval).

func validateDefinition(d *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	in, err := internalDefinition(d)
	if err != nil {
		return err
	}
	return butMetadata(upstream.ValidateCustomResourceDefinition(context.Background(), in), true)
}

func validateDefinitionUpdate(d, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	return validateDefinitions(d, old, upstream.ValidateCustomResourceDefinitionUpdate)
}

func validateDefinitionStatus(d, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	return validateDefinitions(d, old, upstream.ValidateUpdateCustomResourceDefinitionStatus)
}

func validateDefinitions(
	d, old *apiextensionsv1.CustomResourceDefinition,
	validate func(ctx context.Context, in, was *apiextensionsinternal.CustomResourceDefinition) field.ErrorList,
) field.ErrorList {
	in, errs := internalDefinition(d)
	was, more := internalDefinition(old)
	if errs = append(errs, more...); len(errs) > 0 {
		return errs
	}
	return butMetadata(validate(context.Background(), in, was), false)
}

func internalDefinition(
	d *apiextensionsv1.CustomResourceDefinition,
) (*apiextensionsinternal.CustomResourceDefinition, field.ErrorList) {
	in := &apiextensionsinternal.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(
		d.DeepCopy(), in, nil,
	); err != nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	leaveMetadata(&in.ObjectMeta)
	return in, nil
}

// leaveMetadata removes the lists whose errors butMetadata drops, because they may have a million items.
func leaveMetadata(m *metav1.ObjectMeta) {
	m.Labels, m.OwnerReferences, m.Finalizers, m.ManagedFields = nil, nil, nil, nil
	maps.DeleteFunc(m.Annotations, func(key, _ string) bool { return key != apiextensionsv1.KubeAPIApprovedAnnotation })
}

// approval is the path of the approval annotation.
var approval = field.NewPath("metadata", "annotations").Key(apiextensionsv1.KubeAPIApprovedAnnotation).String()

// butMetadata drops errors of metadata. With name, it keeps the error of a name that does not match the spec.
func butMetadata(errs field.ErrorList, name bool) field.ErrorList {
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		kept := e.Field == approval || name && strings.HasPrefix(e.Detail, "must be spec.names.plural")
		return strings.HasPrefix(e.Field, "metadata") && !kept
	})
}
