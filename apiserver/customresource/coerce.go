package customresource

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// coerce converts an object to the form that its schema requires (AX pkg/apiserver/customresource_handler.go:
// unstructuredSchemaCoercer). It removes unknown fields, and nulls that are not allowed and have no default, and
// converts metadata to the types of ObjectMeta. unknown are the paths of the removed fields. In a stored object, it
// also removes malformed metadata, and sets a missing generation to 1.
func (v *version) coerce(u *unstructured.Unstructured, stored bool) (unknown []string, err error) {
	r, err := v.rules()
	if err != nil {
		return nil, err
	}
	if m, ok := u.Object["metadata"].(map[string]any); ok && m["creationTimestamp"] == nil {
		delete(m, "creationTimestamp") // clients before v1.35 send null
	}
	kind, hasKind, err := unstructured.NestedString(u.Object, "kind")
	if err != nil {
		return nil, err
	}
	apiVersion, hasVersion, err := unstructured.NestedString(u.Object, "apiVersion")
	if err != nil {
		return nil, err
	}
	meta, found, paths, err := objectmeta.GetObjectMetaWithOptions(
		u.Object, objectmeta.ObjectMetaOptions{DropMalformedFields: stored, ReturnUnknownFieldPaths: !stored},
	)
	if err != nil {
		return nil, err
	}
	unknown = append(unknown, paths...)
	if kind == v.kind && apiVersion == v.apiVersion { // objects of other kinds are rejected later
		if !v.keepsUnknown {
			unknown = append(unknown, pruning.PruneWithOptions(
				u.Object, r.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: !stored},
			)...)
			defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, r.structural)
		}
		fieldErr, paths := objectmeta.CoerceWithOptions(
			nil, u.Object, r.structural, false,
			objectmeta.CoerceOptions{DropInvalidFields: stored, ReturnUnknownFieldPaths: !stored},
		)
		if fieldErr != nil {
			return nil, fieldErr
		}
		unknown = append(unknown, paths...)
		if stored && found && meta.Generation == 0 {
			meta.Generation = 1
		}
	}
	if hasKind {
		u.SetKind(kind)
	}
	if hasVersion {
		u.SetAPIVersion(apiVersion)
	}
	if found {
		if err := setMeta(u.Object, meta); err != nil {
			return nil, err
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown), nil
}

func setMeta(content map[string]any, meta *metav1.ObjectMeta) error {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(meta)
	if err == nil {
		content["metadata"] = m
	}
	return err
}

// fill sets defaults. If they are too large, it sets none, and the object's validation returns the error.
func (v *version) fill(obj runtime.Object) {
	if r, err := v.rules(); err == nil { // otherwise coerce has returned the error
		_ = r.defaults.fill(obj.(*unstructured.Unstructured).Object)
	}
}
