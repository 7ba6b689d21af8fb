package registry

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// prepareCreate resets the fields of a new object that a client can't set: status, the kind's own fields, the
// generation.
func prepareCreate(res *entry.Resource, obj Object) {
	if res.Subresource("status") != nil && !res.Strategy.OwnStatus {
		setPart(obj, "Status", nil)
	}
	if p := res.Strategy.Prepare; p != nil {
		p(obj, nil)
	}
	switch res.Strategy.Generation {
	case entry.NoGeneration, entry.UpdateOnlyGeneration: // A-21, B-35, B-36
	default:
		obj.SetGeneration(1) // B-30
	}
}

// prepareUpdate restores the fields that the resource or subresource can't change, and sets the generation. obj has the
// generation of old.
func prepareUpdate(res *entry.Resource, sub *entry.Subresource, obj, old Object) {
	keepRawParts(obj, old)
	switch {
	case sub != nil && sub.Action == entry.Status: // B-40, B-41
		keepPart(obj, old, "Spec")
	case sub != nil && sub.Action == entry.Part: // PrepareUpdate of the subresource decides what it may change
	case res.Subresource("status") != nil && !res.Strategy.OwnStatus:
		keepPart(obj, old, "Status")
	}
	if sub != nil {
		if sub.PrepareUpdate != nil {
			sub.PrepareUpdate(obj, old)
		}
	} else if p := res.Strategy.Prepare; p != nil {
		p(obj, old)
	}
	if sub == nil || sub.Action != entry.Status { // B-37
		if changes(res.Strategy.Generation, obj, old) {
			obj.SetGeneration(old.GetGeneration() + 1)
		}
	}
}

// changes reports whether an update increments the generation (B-30 to B-36).
func changes(rule entry.Generation, obj, old Object) bool {
	switch rule {
	case entry.SpecGeneration, entry.UpdateOnlyGeneration:
		return !samePart(obj, old, "Spec")
	case entry.SpecOrAnnotations: // B-31
		return !samePart(obj, old, "Spec") || !apiequality.Semantic.DeepEqual(obj.GetAnnotations(), old.GetAnnotations())
	case entry.TemplateGeneration:
		return !samePart(obj, old, "Template")
	case entry.AnyButMetaOrLabels: // B-33
		return !sameBody(obj, old, false) || !apiequality.Semantic.DeepEqual(obj.GetLabels(), old.GetLabels())
	case entry.RootGeneration, entry.CustomWholeGeneration: // B-34
		return !sameBody(obj, old, false)
	case entry.CustomGeneration: // B-34
		return !sameBody(obj, old, true)
	}
	return false
}
