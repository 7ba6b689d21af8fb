package resources

import "k8s.io/apimachinery/pkg/runtime/schema"

// judgedAgain are the kinds whose own rules for an update go through all rules for metadata, once or
// twice more than the general ones do, so that a fault is named as often (0-06; K pkg/apis/core/validation,
// rbac/validation: Validate...Update, and the strategies' ValidateUpdate).
var judgedAgain = map[schema.GroupResource]int{
	{Resource: "configmaps"}:             1,
	{Resource: "endpoints"}:              1,
	{Resource: "limitranges"}:            1,
	{Resource: "namespaces"}:             1,
	{Resource: "persistentvolumeclaims"}: 1,
	{Resource: "persistentvolumes"}:      2,
	{Resource: "secrets"}:                1,
	{Resource: "serviceaccounts"}:        1,

	{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}: 2,
	{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}:        2,
	{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}:        2,
	{Group: "rbac.authorization.k8s.io", Resource: "roles"}:               2,
}

// MetadataAgain is how often the kind's own rules for an update judge all metadata, apart from the
// general rules that every kind has.
func (r *Resource) MetadataAgain() int { return judgedAgain[r.GroupResource()] }
