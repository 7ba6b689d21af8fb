package resources

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsinternal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	baseversion "k8s.io/component-base/version"
	"k8s.io/kube-openapi/pkg/validation/spec"

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
			Kind: apiextensionsv1beta1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
			To:   crdToV1beta1, From: convertCRD(apiextensionsv1.SchemeGroupVersion),
		}, Governs: true},
		Strategy: entry.Strategy{
			Generation:  entry.SpecGeneration,
			Conditional: true,
			Metadata:    entry.Metadata{Custom: true},
			Default:     entry.DefaultKeepingLists(defaultCustomResourceDefinition),
			Prepare:     entry.Change(prepareDefinition),
			Validate:    entry.ValidateEither(validateDefinition, validateDefinitionUpdate),
			Warnings:    entry.Warn(definitionWarnings),
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
		return []any{
			string(d.Spec.Scope), strings.Join(versions, ","), d.CreationTimestamp.UTC().Format(time.RFC3339),
			d.Spec.Group, d.Spec.Names.Kind, strings.Join(d.Spec.Names.ShortNames, ","),
			apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established),
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
	old := apihelpers.FindCRDCondition(crd, c.Type)
	if old == nil {
		crd.Status.Conditions = append(crd.Status.Conditions, c)
		return
	}
	if old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	*old = c
}

// beginCRD sets the first condition that the CustomResourceDefinition controller sets (F-10).
func beginCRD(obj runtime.Object) {
	c := apihelpers.FindCRDCondition(obj.(*apiextensionsv1.CustomResourceDefinition), apiextensionsv1.Terminating)
	if c != nil && c.Reason == "InstanceDeletionPending" {
		c.Reason, c.Message = "InstanceDeletionInProgress", "CustomResource deletion is in progress"
	}
}

// defaultCustomResourceDefinition derives names from the kind and adds the storage version to the stored versions.
func defaultCustomResourceDefinition(c *apiextensionsv1.CustomResourceDefinition) {
	check.FillDefault(&c.Spec.Names.Singular, strings.ToLower(c.Spec.Names.Kind))
	if c.Spec.Names.Kind != "" {
		check.FillDefault(&c.Spec.Names.ListKind, c.Spec.Names.Kind+"List")
	}
	check.SetDefault(&c.Spec.Conversion, apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter})
	defaultPort(c)
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

// defaultPort sets the port of the service of a conversion webhook.
func defaultPort(d *apiextensionsv1.CustomResourceDefinition) {
	if c := d.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil &&
		c.Webhook.ClientConfig.Service != nil {
		check.SetDefault(&c.Webhook.ClientConfig.Service.Port, 443)
	}
}

// prepareDefinition adds the storage version to the stored versions. A new definition has no others.
func prepareDefinition(d, old *apiextensionsv1.CustomResourceDefinition) {
	if old == nil {
		d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	}
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
// scalars (V-072). On update it returns only new ones. They are sorted, while the order of upstream's is random.
func definitionWarnings(d, old *apiextensionsv1.CustomResourceDefinition) []string {
	texts := schemaWarnings(d)
	if old != nil {
		texts = texts.Difference(schemaWarnings(old))
	}
	return sets.List(texts)
}

func schemaWarnings(d *apiextensionsv1.CustomResourceDefinition) sets.Set[string] {
	texts, minor := sets.New[string](), version.MustParse(baseversion.DefaultKubeBinaryVersion)
	for _, v := range d.Spec.Versions {
		var root apiextensionsinternal.JSONSchemaProps
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil ||
			apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
				v.Schema.OpenAPIV3Schema, &root, nil) != nil {
			continue
		}
		upstream.SchemaHas(&root, func(s *apiextensionsinternal.JSONSchemaProps) bool {
			for _, format := range schemavalidation.GetUnrecognizedFormats(&spec.Schema{
				SchemaProps: spec.SchemaProps{Format: s.Format, Type: []string{s.Type}}}, minor) {
				texts.Insert(fmt.Sprintf("unrecognized format %q", format))
			}
			if check.ValueOf(s.XListType) == "set" && s.Items != nil && s.Items.Schema != nil {
				if of := s.Items.Schema.Type; of == "object" || of == "array" {
					texts.Insert(fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by "+
						"server-side apply or CEL validation rules", of))
				}
			}
			return false // so the traversal continues
		})
	}
	return texts
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
