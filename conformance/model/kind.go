package model

import "slices"

// Kind has the properties of a type on which the rules depend.
type Kind struct {
	Name, APIVersion, Plural string
	// Also are the other versions in which the kind is served, with their group. Requests and references may use any.
	Also []string
	// Stored is the version that the CustomResourceDefinition stores. It may differ from APIVersion.
	Stored     string
	Namespaced bool
	// Orphans: a DELETE without a policy orphans (C-23).
	Orphans bool
	// Ignored: the collector neither collects the object nor counts it as a dependent (D-08), and a DELETE never adds a
	// finalizer of the collector (C-23).
	Ignored bool
	// Graceful: a DELETE has a grace period (C-30).
	Graceful bool
	// Generation: it starts at 1 (B-30).
	Generation bool
	// Returned: the response to a DELETE that removes the object is the object (C-62).
	Returned bool
	// Replaceable: a PUT may consist of the metadata and the body of the creation.
	Replaceable bool
	// Custom: the kind is defined by a CustomResourceDefinition. It supports no strategic merge patches (B-50), a PUT
	// must have a version (B-06), and its finalizers need no prefix.
	Custom bool
}

// Kinds are the kinds of the model, in the order in which they are listed.
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

// Versions returns all versions in which the kind is served.
func (k Kind) Versions() []string { return append([]string{k.APIVersion}, k.Also...) }

// BuiltIn returns the kinds that every server has.
func BuiltIn() []Kind {
	return slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return k.Custom })
}

// Needed returns the kinds that every server has, and the custom kinds that the operations use.
func Needed(ops []Op) []Kind {
	return slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool {
		return k.Custom && !slices.ContainsFunc(ops, func(o Op) bool {
			return o.Key.Kind == k.Name || slices.ContainsFunc(o.Owners, func(r Owner) bool {
				return r.Kind == k.Name && k.Serves(r.APIVersion)
			})
		})
	})
}

// KindOf returns the kind with the name, which must be in Kinds.
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
