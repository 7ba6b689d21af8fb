package custom

import (
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// The verbs, in the order in which discovery prints them for custom resources.
var (
	verbs  = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	modify = []string{"get", "patch", "update"}
)

// Entries returns the entries of a definition: one for each version that is served. It has none
// before its names are accepted and it is established (F-12).
func Entries(d *apiextensionsv1.CustomResourceDefinition) []*resources.Resource {
	if !True(d, apiextensionsv1.Established) {
		return nil
	}
	var stored string
	for _, v := range d.Spec.Versions {
		if v.Storage {
			stored = v.Name
		}
	}
	// Objects may be stored in any version that once was the storage version.
	versions := map[string]*version{}
	for i := range d.Spec.Versions {
		v := newVersion(d, &d.Spec.Versions[i])
		versions[v.apiVersion] = v
	}
	var out []*resources.Resource
	for i := range d.Spec.Versions {
		if v := &d.Spec.Versions[i]; v.Served {
			out = append(out, entry(d, versions[d.Spec.Group+"/"+v.Name], versions, stored))
		}
	}
	return out
}

func entry(d *apiextensionsv1.CustomResourceDefinition, v *version, all map[string]*version, stored string) *resources.Resource {
	names := d.Status.AcceptedNames
	gvk := schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: names.Kind}
	r := &resources.Resource{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind,
		Plural: names.Plural, Singular: names.Singular, ShortNames: names.ShortNames, Categories: names.Categories, ListKind: names.ListKind,
		Namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped, Verbs: verbs,
		Collection: gvk.Group + "/" + names.Plural, Stored: gvk.GroupKind().WithVersion(stored), Custom: true,
		New: func() runtime.Object {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(gvk)
			return u
		},
		Table:       table(v.AdditionalPrinterColumns),
		Coerce:      func(obj runtime.Object) ([]string, error) { return v.coerce(obj.(*unstructured.Unstructured), false) },
		Restore:     restore(all, v),
		OpenAPI:     v.openAPI,
		Seal:        new(storage.Seal),
		Origin:      string(d.UID),
		Terminating: d.DeletionTimestamp != nil,
	}
	if stored != v.Name {
		r.ToStored, r.FromStored = convert(all[gvk.Group+"/"+stored]), convert(v)
	}
	r.Deprecated = deprecation(v)
	selectable(r, v.SelectableFields)
	strategy(r, v)
	return r
}

// strategy fills in the rules of writes and the subresources.
func strategy(r *resources.Resource, v *version) {
	r.Strategy = resources.Strategy{
		Generation: resources.CustomWholeGeneration, Conditional: true, CustomMeta: true,
		Default: v.fill, Validate: v.validate, ValidateUpdate: v.validateUpdate, Warnings: warnings,
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
		paths := resources.ScalePaths{Replicas: strings.TrimPrefix(s.SpecReplicasPath, "."), StatusReplicas: strings.TrimPrefix(s.StatusReplicasPath, ".")}
		if s.LabelSelectorPath != nil {
			paths.Selector = strings.TrimPrefix(*s.LabelSelectorPath, ".")
		}
		r.Subresources = append(r.Subresources, resources.Subresource{Name: "scale", Verbs: modify, Action: resources.Scale,
			Kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"), ScalePaths: paths, ValidateUpdate: v.validateUpdate})
	}
}

// restore reads a stored object as AX pkg/apiserver/customresource_handler.go's codecs do: by the
// schema of the version that it was stored in, then by that of the version asked for.
func restore(all map[string]*version, v *version) func(runtime.Object) error {
	return func(obj runtime.Object) error {
		u := obj.(*unstructured.Unstructured)
		was := all[u.GetAPIVersion()]
		if was == nil {
			was = v
		}
		if _, err := was.coerce(u, true); err != nil {
			return err
		}
		was.fill(u)
		return nil
	}
}

// convert changes the version (strategy None), and drops what the other version's schema doesn't know.
func convert(to *version) func(runtime.Object) (runtime.Object, error) {
	return func(obj runtime.Object) (runtime.Object, error) {
		u := obj.(*unstructured.Unstructured)
		if u.GetAPIVersion() == to.apiVersion {
			return u, nil
		}
		u = u.DeepCopy()
		u.SetAPIVersion(to.apiVersion)
		_, err := to.coerce(u, true)
		return u, err
	}
}

// deprecation is the warning that requests for a version earn.
func deprecation(v *version) string {
	switch {
	case !v.Deprecated:
		return ""
	case v.DeprecationWarning != nil:
		return *v.DeprecationWarning
	}
	return v.apiVersion + " " + v.kind + " is deprecated"
}

func fieldPath(path string) storage.FieldPath { return storage.FieldPath{Paths: []string{path}} }
