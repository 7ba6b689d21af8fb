package kindtest

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Kind has the hooks of a kind. Every func may be nil.
type Kind struct {
	GVK schema.GroupVersionKind
	// Default sets missing fields.
	Default func(obj runtime.Object)
	Prepare
	Validation Validation
	// Table is the default table if the kind has none of its own.
	Table resources.Table
	// Stored reports whether objects of the kind are stored, or served as if they were.
	Stored bool
}

// Prepare has the hooks that set the fields that clients can't set, and those for warnings.
type Prepare struct {
	OwnStatus bool
	// Update gets a nil old object on create.
	Update, Status func(obj, old runtime.Object)
	// Parts are the hooks of other subresources, by name.
	Parts                    map[string]func(obj, old runtime.Object)
	Early                    func(obj runtime.Object) []string
	Warnings, StatusWarnings func(obj, old runtime.Object) []string
}

// Empty reports whether there is no hook.
func (p *Prepare) Empty() bool {
	return p.Update == nil && p.Status == nil && len(p.Parts) == 0 && p.Early == nil &&
		p.Warnings == nil &&
		p.StatusWarnings == nil
}

// Validation has the hooks that validate.
type Validation struct {
	// Whole gets a nil old object on create.
	Whole, Status func(obj, old runtime.Object) field.ErrorList
	// Parts are the hooks of other subresources, by name.
	Parts map[string]func(obj, old runtime.Object) field.ErrorList
}

// Kinds is a list of kinds.
type Kinds []Kind

// All returns all kinds. Their hooks read the time from now.
func All(now func() time.Time) Kinds { return Gated(now, nil) }

// Gated returns all kinds with feature gates.
func Gated(now func() time.Time, gates map[string]bool) Kinds {
	var all Kinds
	for _, r := range resources.Declared(now, gates) {
		all = append(all, kindOf(r))
	}
	slices.SortFunc(all, func(a, b Kind) int { return strings.Compare(a.GVK.String(), b.GVK.String()) })
	return all
}

// Of returns a kind. If the kind has no hooks, it returns a Kind without them.
func (l Kinds) Of(gvk schema.GroupVersionKind) Kind {
	for _, k := range l {
		if k.GVK == gvk {
			return k
		}
	}
	return Kind{GVK: gvk}
}

func kindOf(r *resources.Resource) Kind {
	s := &r.Strategy
	k := Kind{
		GVK: r.GroupVersionKind(), Default: s.Default, Table: r.Table,
		Stored: !r.Virtual || r.Hooks.Objects.List != nil,
		Prepare: Prepare{
			OwnStatus: s.OwnStatus, Update: s.Prepare, Early: s.EarlyWarnings,
			Warnings: s.Warnings,
		},
		Validation: Validation{Whole: s.Validate},
	}
	if k.Table.Cells == nil {
		k.Table = resources.TableOf(k.GVK.GroupKind())
	}
	k.Prepare.Parts = map[string]func(obj, old runtime.Object){}
	k.Validation.Parts = map[string]func(obj, old runtime.Object) field.ErrorList{}
	for _, sub := range r.Subresources {
		switch sub.Action {
		case resources.Status:
			k.Status, k.StatusWarnings, k.Validation.Status = sub.PrepareUpdate, sub.Warnings, sub.ValidateUpdate
		case resources.Part:
			if sub.PrepareUpdate != nil {
				k.Prepare.Parts[sub.Name] = sub.PrepareUpdate
			}
			if sub.ValidateUpdate != nil {
				k.Validation.Parts[sub.Name] = sub.ValidateUpdate
			}
		}
	}
	return k
}
