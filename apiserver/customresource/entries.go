package customresource

import (
	"context"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/storage"
)

// The verbs, in the order in which discovery lists them for custom resources.
var (
	verbs  = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	modify = []string{"get", "patch", "update"}
)

// Entries returns the entries of a CRD: one for each served version. There are none before its names are accepted and
// it is established (F-12). clients call its conversion webhook, if it has one.
func Entries(d *apiextensionsv1.CustomResourceDefinition, clients *webhook.Clients) []*resources.Resource {
	return entries(d, schemasIn(d), clients)
}

// schemas returns the schema of the version with the index, or nil if it has none. The caller may change the schema.
type schemas func(i int) (*apiextensionsv1.CustomResourceValidation, error)

func schemasIn(d *apiextensionsv1.CustomResourceDefinition) schemas {
	return func(i int) (*apiextensionsv1.CustomResourceValidation, error) {
		return d.Spec.Versions[i].Schema.DeepCopy(), nil
	}
}

// entries returns the entries of a CRD. It calls schema when it needs one, and does not use the schemas in d.
func entries(
	d *apiextensionsv1.CustomResourceDefinition, schema schemas, clients *webhook.Clients,
) []*resources.Resource {
	if !apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established) {
		return nil
	}
	of := schemesOf(d, schema, clients)
	var out, unserved []*resources.Resource
	for _, v := range of.versions {
		if v.Served {
			out = append(out, entry(d, v, of))
		} else {
			unserved = append(unserved, entry(d, v, of))
		}
	}
	for _, r := range out {
		r.Unserved = unserved
	}
	return out
}

// Stored returns the entry of the storage version, even if that is not served. It is nil before the CRD is established.
// The finalizer of CRDs uses it to delete the objects.
func Stored(d *apiextensionsv1.CustomResourceDefinition, clients *webhook.Clients) *resources.Resource {
	if !apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established) {
		return nil
	}
	of := schemesOf(d, schemasIn(d), clients)
	return entry(d, of.stored, of)
}

// schemes are the versions of a CRD.
type schemes struct {
	versions []*version
	// stored is the version in which objects are written. Older objects may be stored in any other version.
	stored *version
	// verified marks the objects that have the form that the schema of the stored version requires.
	verified *storage.Verification
	// conversion converts between the versions.
	conversion conversion
}

func schemesOf(d *apiextensionsv1.CustomResourceDefinition, schema schemas, clients *webhook.Clients) schemes {
	of := schemes{stored: &version{}, verified: new(storage.Verification), conversion: conversionOf(d, clients)}
	for i := range d.Spec.Versions {
		v := newVersion(d, i, schema)
		of.versions = append(of.versions, v)
		if v.Storage {
			of.stored = v
		}
	}
	return of
}

// version returns the version with the apiVersion, or nil if there is none.
func (s schemes) version(apiVersion string) *version {
	for _, v := range s.versions {
		if v.apiVersion == apiVersion {
			return v
		}
	}
	return nil
}

func entry(d *apiextensionsv1.CustomResourceDefinition, v *version, of schemes) *resources.Resource {
	names := d.Status.AcceptedNames
	gvk := schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: names.Kind}
	r := &resources.Resource{
		Served: resources.Served{
			Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Singular: names.Singular,
			ListKind: names.ListKind, Verbs: verbs,
		},
		Plural: names.Plural, ShortNames: names.ShortNames, Categories: names.Categories,
		Namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Storage: resources.Storage{
			Collection: gvk.Group + "/" + names.Plural, Stored: gvk.GroupKind().WithVersion(of.stored.Name),
			Coerce: func(obj runtime.Object) ([]string, error) {
				return v.coerce(obj.(*unstructured.Unstructured), false)
			},
			Verified: of.verified,
		},
		CustomResource: resources.CustomResource{
			Custom: true, Restore: restore(of), OpenAPI: v.openAPI, Origin: string(d.UID),
		},
		New: func() runtime.Object {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(gvk)
			return u
		},
		Table: table(v.AdditionalPrinterColumns),
	}
	of.bind(context.Background(), r, v)
	if _, calls := of.conversion.(*webhookConversion); calls {
		r.Bind = func(ctx context.Context) *resources.Resource {
			bound := r.Copy()
			of.bind(ctx, bound, v)
			return bound
		}
	}
	r.Deprecated = deprecation(v)
	selectable(r, v.SelectableFields)
	strategy(r, v)
	return r
}

// bind sets the conversions of an entry. They end with ctx.
func (s schemes) bind(ctx context.Context, r *resources.Resource, v *version) {
	if s.stored != v {
		r.ToStored, r.FromStored = s.converter(ctx, s.stored), s.converter(ctx, v)
	}
	r.Convert = func(obj runtime.Object, gv schema.GroupVersion) (runtime.Object, error) {
		return s.change(ctx, obj, gv)
	}
	r.Serve = func(objs []runtime.Object) ([]runtime.Object, error) { return s.convert(ctx, objs, v) }
}

// strategy sets the rules of writes and the subresources.
func strategy(r *resources.Resource, v *version) {
	r.Strategy = resources.Strategy{
		Generation: resources.CustomWholeGeneration, Conditional: true, Metadata: resources.Metadata{Custom: true},
		Default: v.fill, Validate: v.validate, Warnings: warnings,
	}
	if v.Subresources == nil {
		return
	}
	if v.Subresources.Status != nil {
		r.Strategy.Generation = resources.CustomGeneration
		r.Subresources = append(r.Subresources, resources.Subresource{Name: "status", Verbs: modify, Action: resources.Status,
			PrepareUpdate: prepareStatus, ValidateUpdate: v.validateStatus})
	}
	if s := v.Subresources.Scale; s != nil {
		paths := resources.ScalePaths{
			Replicas: strings.TrimPrefix(s.SpecReplicasPath, "."), StatusReplicas: strings.TrimPrefix(s.StatusReplicasPath, "."),
		}
		if s.LabelSelectorPath != nil {
			paths.Selector = strings.TrimPrefix(*s.LabelSelectorPath, ".")
		}
		r.Subresources = append(r.Subresources, resources.Subresource{Name: "scale", Verbs: modify, Action: resources.Scale,
			Kind: resources.ScaleKind, ScalePaths: paths, ValidateUpdate: v.validate})
	}
}

// restore returns a function that completes a decoded stored object, as the codecs of AX
// pkg/apiserver/customresource_handler.go do: by the schema of its stored version.
func restore(of schemes) func(runtime.Object) error {
	return func(obj runtime.Object) error {
		u := obj.(*unstructured.Unstructured)
		was := of.version(u.GetAPIVersion())
		// The version was removed from the CRD although objects are stored in it (AX
		// pkg/apiserver/conversion/converter.go).
		if was == nil {
			return invalidVersion(u)
		}
		if _, err := was.coerce(u, true); err != nil {
			return err
		}
		was.fill(u) // without defaults that are too large, so that users can read and correct the object
		return nil
	}
}

// deprecation returns the warning for requests of a deprecated version.
func deprecation(v *version) string {
	switch {
	case !v.Deprecated:
		return ""
	case v.DeprecationWarning != nil:
		return *v.DeprecationWarning
	}
	return v.apiVersion + " " + v.kind + " is deprecated"
}
