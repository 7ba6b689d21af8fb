package customresource

import (
	"crypto/sha256"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// outline is a stored CRD whose schemas are not decoded: decoded schemas take ten times the memory of encoded ones, and
// few are needed.
type outline struct {
	definition *apiextensionsv1.CustomResourceDefinition
	// spec is the hash of the spec, to detect changes.
	spec [sha256.Size]byte
	// schemas are the encoded schemas of the versions, as parts of the stored value. An absent schema is nil.
	schemas [][]byte
}

// Outline decodes a stored CRD without its schemas. That is enough for Decide if Structural returns true.
func Outline(stored []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	o, err := outlineOf(stored)
	return o.definition, err
}

// Structural reports whether Decide does not need the CRD's schemas.
func Structural(d *apiextensionsv1.CustomResourceDefinition) bool {
	return !d.Spec.PreserveUnknownFields && apihelpers.FindCRDCondition(d, apiextensionsv1.NonStructuralSchema) == nil
}

func outlineOf(stored []byte) (outline, error) {
	from, to := jsonscan.Member(stored, "spec")
	o := outline{definition: &apiextensionsv1.CustomResourceDefinition{}, spec: sha256.Sum256(stored[from:to])}
	rest, schemas := cutSchemas(stored)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(rest, o.definition); err != nil {
		return outline{}, fmt.Errorf("decoding a stored CustomResourceDefinition: %w", err)
	}
	o.schemas = schemas
	o.definition.ManagedFields = nil
	delete(o.definition.Annotations, corev1.LastAppliedConfigAnnotation)
	return o, nil
}

// cutSchemas returns a CRD with null for the schemas of its versions, and these schemas.
func cutSchemas(stored []byte) (rest []byte, schemas [][]byte) {
	from, to := jsonscan.Member(stored, "spec")
	at, _ := jsonscan.Member(stored[from:to], "versions")
	s, kept := jsonscan.New(stored[:to]), 0
	if s.Seek(from + at); at == 0 || !s.Open('[') {
		return stored, nil
	}
	for first := true; s.More(first, ']'); first = false {
		s.Peek()
		begin := s.Offset()
		s.Skip()
		from, to := jsonscan.Member(s.From(begin), "schema")
		if to == 0 {
			schemas = append(schemas, nil)
			continue
		}
		from, to = begin+from, begin+to
		schemas = append(schemas, stored[from:to])
		rest = append(append(rest, stored[kept:from]...), "null"...)
		kept = to
	}
	return append(rest, stored[kept:]...), schemas
}

// schema decodes the schema of a version.
func (o outline) schema(i int) (*apiextensionsv1.CustomResourceValidation, error) {
	if i >= len(o.schemas) || o.schemas[i] == nil {
		return nil, nil
	}
	out := &apiextensionsv1.CustomResourceValidation{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(o.schemas[i], out); err != nil {
		return nil, fmt.Errorf("decoding a stored schema: %w", err)
	}
	return out, nil
}

// same reports whether two states of a CRD have the same entries. Then compiled schemas and open watches are kept.
func (o outline) same(p outline) bool {
	a, b := o.definition, p.definition
	established := apihelpers.IsCRDConditionTrue(a, apiextensionsv1.Established)
	return a.UID == b.UID && o.spec == p.spec &&
		apihelpers.IsCRDConditionTrue(b, apiextensionsv1.Established) == established &&
		sameNames(a.Status.AcceptedNames, b.Status.AcceptedNames)
}

// sameNames reports whether the names are equal. Empty and absent slices are equal.
func sameNames(a, b apiextensionsv1.CustomResourceDefinitionNames) bool {
	return a.Plural == b.Plural && a.Singular == b.Singular && a.Kind == b.Kind && a.ListKind == b.ListKind &&
		slices.Equal(a.ShortNames, b.ShortNames) && slices.Equal(a.Categories, b.Categories)
}
