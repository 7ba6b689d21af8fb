package openapi

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const extensionKind = "x-kubernetes-group-version-kind"

// modelName returns the name of a struct type in a document: "io.k8s.api.core.v1.Pod". It ignores a method of an
// embedded struct, which returns the name of that struct.
func modelName(t reflect.Type) string {
	if namer, ok := zero[util.OpenAPIModelNamer](t); ok {
		name := namer.OpenAPIModelName()
		if strings.HasSuffix(name, "."+t.Name()) {
			return name
		}
	}
	return util.ToRESTFriendlyName(t.PkgPath() + "." + t.Name())
}

// CustomName returns the name of a custom resource's schema, which begins with the reversed labels of the group.
func CustomName(gv schema.GroupVersion, kind string) string {
	return util.ToRESTFriendlyName(gv.Group + "/" + gv.Version + "." + kind)
}

// zero returns the zero value of a struct type as an interface that it may implement.
func zero[T any](t reflect.Type) (T, bool) {
	v, ok := reflect.Zero(t).Interface().(T)
	return v, ok
}

// structOf returns the struct type of an object.
func structOf(object any) reflect.Type {
	t := reflect.TypeOf(object)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// commonTypes has the types that are kinds of every group version (apimachinery
// pkg/apis/meta/v1/register.go:AddToGroupVersion).
var commonTypes = []reflect.Type{reflect.TypeFor[metav1.DeleteOptions](), reflect.TypeFor[metav1.WatchEvent]()}

// kinds maps the names of schemas to their kinds.
type kinds map[string][]schema.GroupVersionKind

// kindsOf collects the kinds of all types, so that the schema of an embedded object (a PersistentVolumeClaim in a
// StatefulSet) has its kind in every document.
func kindsOf(types []Type) kinds {
	k := kinds{}
	for _, object := range []any{
		metav1.Status{}, metav1.APIVersions{}, metav1.APIGroup{}, metav1.APIGroupList{}, metav1.APIResourceList{},
	} {
		t := reflect.TypeOf(object)
		k.add(modelName(t), schema.GroupVersionKind{Version: "v1", Kind: t.Name()})
	}
	for i := range types {
		t := &types[i]
		gv := t.groupVersion()
		if t.Custom != nil {
			k.addCustom(t)
			continue
		}
		if t.Object != nil {
			k.add(modelName(structOf(t.Object)), t.groupVersionKind())
		}
		if t.List != nil {
			list := structOf(t.List)
			k.add(modelName(list), gv.WithKind(list.Name()))
		}
		for _, sub := range t.Subresources {
			if sub.Object != nil && !sub.Kind.Empty() {
				k.add(modelName(structOf(sub.Object)), sub.Kind)
			}
		}
		for _, t := range commonTypes {
			k.add(modelName(t), gv.WithKind(t.Name()))
		}
	}
	for _, list := range k {
		slices.SortFunc(list, func(a, b schema.GroupVersionKind) int {
			return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
		})
	}
	return k
}

func (k kinds) add(name string, kind schema.GroupVersionKind) {
	if !slices.Contains(k[name], kind) {
		k[name] = append(slices.Clip(k[name]), kind)
	}
}

func (k kinds) addCustom(t *Type) {
	gv := t.groupVersion()
	k.add(CustomName(gv, t.Kind), t.groupVersionKind())
	k.add(CustomName(gv, t.Custom.ListKind), gv.WithKind(t.Custom.ListKind))
}

// and returns k with the kinds of the custom resources among types, whose schemas are in no other document.
func (k kinds) and(types []Type) kinds {
	if !slices.ContainsFunc(types, func(t Type) bool { return t.Custom != nil }) {
		return k
	}
	k = maps.Clone(k)
	for i := range types {
		if types[i].Custom != nil {
			k.addCustom(&types[i])
		}
	}
	return k
}

// within returns k for the document of a group version of built-in types: types that are kinds of every group version
// have only the kinds of this one and of the core group (AS pkg/server/routes/openapi.go:filterScopedGVKs). For an
// empty version it returns k.
func (k kinds) within(own schema.GroupVersion) kinds {
	if own.Version == "" {
		return k
	}
	k = maps.Clone(k)
	for _, t := range commonTypes {
		name := modelName(t)
		k[name] = slices.DeleteFunc(slices.Clone(k[name]), func(gvk schema.GroupVersionKind) bool {
			return gvk.GroupVersion() != own && gvk.GroupVersion() != corev1.SchemeGroupVersion
		})
	}
	return k
}

// extensions returns the extensions of the schema with the name.
func (k kinds) extensions(name string) spec.Extensions {
	list, ok := k[name]
	if !ok {
		return nil
	}
	values := make([]any, len(list))
	for i, kind := range list {
		values[i] = map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}
	}
	return spec.Extensions{extensionKind: values}
}
