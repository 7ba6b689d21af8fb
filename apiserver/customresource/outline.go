package customresource

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// outline is a stored definition without its large parts: parsed schemas take ten times the memory of encoded ones, and
// few are ever needed.
type outline struct {
	definition *apiextensionsv1.CustomResourceDefinition
	// spec is the hash of the spec, to detect changes.
	spec [sha256.Size]byte
}

// Outline decodes a stored definition without its schemas and columns. That is enough for Decide if Structural returns
// true.
func Outline(stored []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	o, err := outlineOf(stored)
	return o.definition, err
}

// Structural reports whether Decide can do without the definition's schemas.
func Structural(d *apiextensionsv1.CustomResourceDefinition) bool {
	return !d.Spec.PreserveUnknownFields && condition(d, apiextensionsv1.NonStructuralSchema) == nil
}

// outlineOf decodes either version in which definitions may be stored; these parts have the same form.
func outlineOf(stored []byte) (o outline, err error) {
	var whole struct {
		Metadata metav1.ObjectMeta                              `json:"metadata"`
		Spec     json.RawMessage                                `json:"spec"`
		Status   apiextensionsv1.CustomResourceDefinitionStatus `json:"status"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(stored, &whole); err != nil {
		return o, fmt.Errorf("decoding a stored definition: %w", err)
	}
	var spec struct {
		Group                 string                                        `json:"group"`
		Names                 apiextensionsv1.CustomResourceDefinitionNames `json:"names"`
		Scope                 apiextensionsv1.ResourceScope                 `json:"scope"`
		Version               string                                        `json:"version"`
		PreserveUnknownFields bool                                          `json:"preserveUnknownFields"`
		Versions              []struct {
			Name    string `json:"name"`
			Served  bool   `json:"served"`
			Storage bool   `json:"storage"`
		} `json:"versions"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(whole.Spec, &spec); err != nil {
		return o, fmt.Errorf("decoding a stored definition: %w", err)
	}
	o.spec = sha256.Sum256(whole.Spec)
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: whole.Metadata, Status: whole.Status}
	d.ManagedFields = nil
	d.Spec.Group, d.Spec.Names, d.Spec.Scope, d.Spec.PreserveUnknownFields = spec.Group, spec.Names, spec.Scope, spec.PreserveUnknownFields
	for _, v := range spec.Versions {
		d.Spec.Versions = append(
			d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: v.Name, Served: v.Served, Storage: v.Storage},
		)
	}
	if len(spec.Versions) == 0 && spec.Version != "" {
		d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: spec.Version, Served: true, Storage: true}}
	}
	o.definition = d
	return o, nil
}

// same reports whether two states of a definition have the same entries, so that compiled schemas and open watches are
// kept.
func (o outline) same(p outline) bool {
	a, b := o.definition, p.definition
	return a.UID == b.UID && o.spec == p.spec &&
		True(a, apiextensionsv1.Established) == True(b, apiextensionsv1.Established) &&
		sameNames(a.Status.AcceptedNames, b.Status.AcceptedNames)
}
