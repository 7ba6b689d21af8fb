package registry

import (
	"slices"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// Selection selects the objects of a collection for a list or watch. The zero value selects all.
type Selection struct {
	Resource *resources.Resource
	// Prefix selects by key: the prefix of the collection, or of one namespace in it.
	Prefix string
	// name selects one name. Key is the key of that object if its namespace is known, too.
	name, Key string
	Labels    labels.Selector
	Fields    []requirement
	// Filtered reports whether there is a selector. Then the number of remaining items is unknown (H-17).
	Filtered bool
}

// requirement is one term of a field selector.
type requirement struct {
	// Index is an index into storage.Object.Fields, or nameField or namespaceField.
	Index int
	Value string
	not   bool
}

const (
	nameField      = -1
	namespaceField = -2
)

// SelectionOf parses the selectors of a request (H-21, H-22, H.4, H.5).
func (s *Registry) SelectionOf(t Target, o *metainternal.ListOptions) (Selection, error) {
	sel := Selection{Resource: t.Resource}
	if o.LabelSelector != nil && !o.LabelSelector.Empty() {
		sel.Labels = o.LabelSelector
	}
	namespace := t.Namespace
	sel.name = t.Name
	if o.FieldSelector != nil {
		if err := contradicts(t, o.FieldSelector); err != nil {
			return sel, err
		}
		for _, r := range o.FieldSelector.Requirements() {
			req, err := requirementOf(t.Resource, r)
			if err != nil {
				return sel, err
			}
			sel.Fields = append(sel.Fields, req)
			switch {
			case req.not:
			case req.Index == nameField:
				sel.name = req.Value
			case req.Index == namespaceField && t.Resource.Namespaced && namespace == "":
				namespace = req.Value
			}
		}
	}
	sel.Filtered = sel.Labels != nil || len(sel.Fields) > 0
	where := Target{Resource: t.Resource, Namespace: namespace}
	sel.Prefix = where.Key(s.Root)
	if sel.name != "" && (namespace != "" || !t.Resource.Namespaced) {
		sel.Key = sel.Prefix + sel.name
	}
	return sel, nil
}

// contradicts rejects selectors that exclude the object that the path names (H-22).
func contradicts(t Target, sel fields.Selector) error {
	if t.Name == "" || sel.Empty() {
		return nil
	}
	for _, r := range sel.Requirements() { // an unknown field is reported first
		if _, err := requirementOf(t.Resource, r); err != nil {
			return err
		}
	}
	if name, ok := sel.RequiresExactMatch("metadata.name"); !ok || name != t.Name {
		return status.BadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return nil
}

// requirementOf returns the field of a term, or the error for an unknown one (H-41, H-42).
func requirementOf(res *resources.Resource, r fields.Requirement) (requirement, error) {
	req := requirement{Value: r.Value, not: r.Operator == selection.NotEquals}
	label, err := res.FieldLabel(r.Field)
	if err != nil {
		return req, status.BadRequest("%v", err)
	}
	switch label {
	case "metadata.name":
		req.Index = nameField
	case "metadata.namespace":
		req.Index = namespaceField
	default:
		req.Index = slices.Index(res.FieldNames, label)
	}
	return req, nil
}

// All reports whether every object with the prefix matches.
func (sel *Selection) All() bool { return !sel.Filtered && sel.name == "" }

// Matches reports whether an object of a built-in type is selected. Its key must have the prefix.
func (sel *Selection) Matches(o *storage.Object) bool {
	return sel.MatchesMetadata(o) && sel.Has(o.Fields)
}

// MatchesMetadata reports whether the object's metadata matches: name, namespace and labels.
func (sel *Selection) MatchesMetadata(o *storage.Object) bool {
	if sel.name != "" && o.Meta.Name != sel.name {
		return false
	}
	for _, r := range sel.Fields {
		switch {
		case r.Index == nameField && (o.Meta.Name == r.Value) == r.not,
			r.Index == namespaceField && (o.Meta.Namespace == r.Value) == r.not:
			return false
		}
	}
	return sel.Labels == nil || sel.Labels.Matches(labels.Set(o.Meta.Labels))
}

// Has reports whether the values of the resource's own fields match. For a custom resource, values are those of the
// served version (AX registry/customresource/strategy.go: selectableFields).
func (sel *Selection) Has(values []string) bool {
	for _, r := range sel.Fields {
		if r.Index < 0 {
			continue
		}
		v := ""
		if r.Index < len(values) {
			v = values[r.Index]
		}
		if (v == r.Value) == r.not {
			return false
		}
	}
	return true
}

// Deep reports whether the selection depends on the resource's own fields.
func (sel *Selection) Deep() bool {
	return slices.ContainsFunc(sel.Fields, func(r requirement) bool { return r.Index >= 0 })
}
