package model

import "slices"

// Kind is what the rules need to know of a type.
type Kind struct {
	Name, APIVersion, Plural string
	// Also are the other versions that it is served in, with their group. Requests and references may name any.
	Also []string
	// Stored is the version that its definition stores, which may be another than APIVersion.
	Stored     string
	Namespaced bool
	// Orphans: a DELETE without a policy orphans (C-23).
	Orphans bool
	// Ignored: the collector neither collects it nor counts it as a dependent (D-08), and a DELETE
	// never leaves a finalizer of the collector (C-23).
	Ignored bool
	// Graceful: a DELETE has a grace period (C-30).
	Graceful bool
	// Generation: it starts at 1 (B-30).
	Generation bool
	// Returned: the answer to a DELETE that removes it is the object (C-62).
	Returned bool
	// Replaceable: a PUT of nothing but metadata and the body of its creation makes sense.
	Replaceable bool
	// Custom: a definition makes it. It takes no strategic merge patches (B-50), a PUT must name a version (B-06), and
	// its finalizers needn't be qualified.
	Custom bool
}

// Kinds are the kinds of the model's world, in the order in which they are listed.
var Kinds = []Kind{
	{Name: "ConfigMap", APIVersion: "v1", Plural: "configmaps", Namespaced: true, Replaceable: true},
	{Name: "Secret", APIVersion: "v1", Plural: "secrets", Namespaced: true, Replaceable: true},
	{Name: "ServiceAccount", APIVersion: "v1", Plural: "serviceaccounts", Namespaced: true, Returned: true},
	{
		Name: "ReplicationController", APIVersion: "v1", Plural: "replicationcontrollers", Namespaced: true, Orphans: true,
		Generation: true,
	},
	{
		Name: "ReplicaSet", APIVersion: "apps/v1", Plural: "replicasets", Namespaced: true, Generation: true,
		Replaceable: true,
	},
	{Name: "Pod", APIVersion: "v1", Plural: "pods", Namespaced: true, Graceful: true, Generation: true, Returned: true},
	{Name: "Event", APIVersion: "v1", Plural: "events", Namespaced: true, Ignored: true},
	{Name: "ClusterRole", APIVersion: "rbac.authorization.k8s.io/v1", Plural: "clusterroles"},
	{Name: "StorageClass", APIVersion: "storage.k8s.io/v1", Plural: "storageclasses", Returned: true},
	{Name: "Widget", APIVersion: "example.com/v1", Plural: "widgets", Namespaced: true, Generation: true,
		Replaceable: true, Custom: true,
		Also: []string{"example.com/v1beta1"}, Stored: "example.com/v1beta1"},
	{Name: "Site", APIVersion: "example.com/v1", Plural: "sites", Generation: true, Replaceable: true, Custom: true,
		Also: []string{"example.com/v1beta1", "example.com/v2alpha1"}, Stored: "example.com/v1"},
}

// Serves reports whether the kind is served in a version.
func (k Kind) Serves(apiVersion string) bool {
	return apiVersion == k.APIVersion || slices.Contains(k.Also, apiVersion)
}

// Versions are all that it is served in.
func (k Kind) Versions() []string { return append([]string{k.APIVersion}, k.Also...) }

// BuiltIn are the kinds that every server has.
func BuiltIn() []Kind {
	return slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return k.Custom })
}

// Needed are the kinds that every server has, and those of the custom ones that the operations need.
func Needed(ops []Op) []Kind {
	return slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool {
		return k.Custom && !slices.ContainsFunc(ops, func(o Op) bool {
			return o.Key.Kind == k.Name || slices.ContainsFunc(o.Owners, func(r Owner) bool {
				return r.Kind == k.Name && k.Serves(r.APIVersion)
			})
		})
	})
}

// KindOf returns the kind of that name. The names are those of Kinds.
func KindOf(name string) Kind {
	for _, k := range Kinds {
		if k.Name == name {
			return k
		}
	}
	panic("model: there is no kind " + name)
}

// served returns the kind that a reference names, if there is one (D-36, D-73).
func served(apiVersion, kind string) (Kind, bool) {
	for _, k := range Kinds {
		if k.Name == kind && k.Serves(apiVersion) {
			return k, true
		}
	}
	return Kind{}, false
}
