package entry

import (
	"fmt"
	"slices"

	"github.com/kubecascade/kubecascade/storage"
)

// Field is a label of a field selector. Its value is at Paths; the default is the label as a path. Unset is the value
// of a field that is missing in the stored JSON: the kind's default.
type Field struct {
	Label string
	Paths []string
	Unset string
	// Empty reports whether the label is accepted, but its value is always empty, as in upstream.
	Empty bool
}

func selectFields(r *Resource) {
	for _, s := range r.Selectable {
		r.FieldNames = append(r.FieldNames, s.Label)
		paths := s.Paths
		if paths == nil && !s.Empty {
			paths = []string{s.Label}
		}
		r.Fields = append(r.Fields, storage.FieldPath{Paths: paths, Default: s.Unset})
	}
}

// FieldLabel returns the label by which objects are matched: metadata.name, metadata.namespace or one of FieldNames.
// Clients see the error for a label that is not supported (H-41, H-42).
func (r *Resource) FieldLabel(label string) (string, error) {
	if a, ok := r.FieldAliases[label]; ok {
		label = a
	}
	own := r.Custom || len(r.FieldNames) > 0
	switch {
	case label == "metadata.name", slices.Contains(r.FieldNames, label):
		return label, nil
	case label == "metadata.namespace" && (r.Namespaced || !own):
		return label, nil // kinds without their own labels accept it even if they are cluster-scoped (H-41)
	case !own:
		return "", fmt.Errorf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, label)
	case r.FieldError != "":
		return "", fmt.Errorf(r.FieldError, label)
	}
	return "", fmt.Errorf("field label not supported: %s", label)
}
