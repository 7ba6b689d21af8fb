package apiserver

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

// selected is which objects of a collection a list or watch asks for. The zero value is all.
type selected struct {
	res *resources.Resource
	// prefix narrows by key: the collection, or one namespace of it.
	prefix string
	// name narrows to one name; key is then the one key to look at, if the namespace is known.
	name, key string
	labels    labelMatcher
	fields    []requirement
	// filtered says that a selector was given, so counts of what remains aren't known (H-17).
	filtered bool
}

// requirement is one term of a field selector.
type requirement struct {
	// index into storage.Object.Fields; nameField and namespaceField stand for metadata.
	index int
	value string
	not   bool
}

const (
	nameField      = -1
	namespaceField = -2
)

// selectionOf reads the selectors of a request (H-21, H-22, H.4, H.5).
func (s *registry) selectionOf(t target, o *metainternal.ListOptions) (selected, error) {
	sel := selected{res: t.res, labels: matcherOf(o.LabelSelector)}
	namespace := t.namespace
	sel.name = t.name
	if o.FieldSelector != nil {
		if err := contradicts(t, o.FieldSelector); err != nil {
			return sel, err
		}
		for _, r := range o.FieldSelector.Requirements() {
			req, err := requirementOf(t.res, r)
			if err != nil {
				return sel, err
			}
			sel.fields = append(sel.fields, req)
			switch {
			case req.not:
			case req.index == nameField:
				sel.name = req.value
			case req.index == namespaceField && t.res.Namespaced && namespace == "":
				namespace = req.value
			}
		}
	}
	sel.filtered = sel.labels != nil || len(sel.fields) > 0
	where := target{res: t.res, namespace: namespace}
	sel.prefix = where.key(s.root)
	if sel.name != "" && (namespace != "" || !t.res.Namespaced) {
		sel.key = sel.prefix + sel.name
	}
	return sel, nil
}

// contradicts refuses, for a path that names an object, selectors that don't name the same (H-22).
func contradicts(t target, sel fields.Selector) error {
	if t.name == "" || sel.Empty() {
		return nil
	}
	for _, r := range sel.Requirements() { // unknown fields come first
		if _, err := requirementOf(t.res, r); err != nil {
			return err
		}
	}
	if name, ok := sel.RequiresExactMatch("metadata.name"); !ok || name != t.name {
		return status.BadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return nil
}

// requirementOf finds the field that a term names, or says that there is none (H-41, H-42).
func requirementOf(res *resources.Resource, r fields.Requirement) (requirement, error) {
	req := requirement{value: r.Value, not: r.Operator == selection.NotEquals}
	label, err := res.FieldLabel(r.Field)
	if err != nil {
		return req, status.BadRequest("%v", err)
	}
	switch label {
	case "metadata.name":
		req.index = nameField
	case "metadata.namespace":
		req.index = namespaceField
	default:
		req.index = slices.Index(res.FieldNames, label)
	}
	return req, nil
}

// matches reports whether an object of a built-in type is selected; its key is known to have the prefix.
func (sel *selected) matches(o *storage.Object) bool { return sel.likes(o) && sel.has(o.Fields) }

// likes is the part of the selection that asks for metadata.
func (sel *selected) likes(o *storage.Object) bool {
	if sel.name != "" && o.Meta.Name != sel.name {
		return false
	}
	for _, r := range sel.fields {
		switch {
		case r.index == nameField && (o.Meta.Name == r.value) == r.not,
			r.index == namespaceField && (o.Meta.Namespace == r.value) == r.not:
			return false
		}
	}
	return sel.labels == nil || sel.labels.Matches(labels.Set(o.Meta.Labels))
}

// has is the part that asks for the resource's own fields, whose values are given. A custom resource has
// them as clients see it (AX registry/customresource/strategy.go: selectableFields).
func (sel *selected) has(values []string) bool {
	for _, r := range sel.fields {
		if r.index < 0 {
			continue
		}
		v := ""
		if r.index < len(values) {
			v = values[r.index]
		}
		if (v == r.value) == r.not {
			return false
		}
	}
	return true
}

// deep reports whether the resource's own fields are asked for.
func (sel *selected) deep() bool {
	return slices.ContainsFunc(sel.fields, func(r requirement) bool { return r.index >= 0 })
}
