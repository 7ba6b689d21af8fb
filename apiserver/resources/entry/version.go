package entry

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SameJSON returns an optional version that has the same JSON as the stored one.
func SameJSON[Stored, Served any, S interface {
	*Stored
	runtime.Object
}, V interface {
	*Served
	runtime.Object
}](gv schema.GroupVersion) Version {
	return Version{
		GroupVersion: gv, New: New[Served, V], ToStored: Recast[Stored, S], FromStored: Recast[Served, V],
	}
}

// Version is a version of a resource that kube-apiserver v1.37 serves only if --runtime-config enables it. All other
// properties are those of the entry that is served by default. Its hooks receive the stored version.
type Version struct {
	GroupVersion schema.GroupVersion
	// New returns an empty object of this version.
	New func() runtime.Object
	// ToStored and FromStored are those of Resource.
	ToStored, FromStored func(runtime.Object) (runtime.Object, error)
	// FieldError is that of Resource. Its message names the version.
	FieldError string
	// Change, if set, changes other fields in the entry of this version.
	Change func(*Resource)
}
