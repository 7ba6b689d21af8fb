package fieldmanager

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/internal/jsonfield"
)

// pruner removes from two objects the fields that are equal in both: they are not added, changed or removed, so they
// need not be compared.
type pruner struct{ parts []part }

// part is a field of a structure.
type part struct {
	jsonfield.Field
	// written is its name as FieldsV1 has it: `"f:spec":`.
	written string
	// fragile says that its value may violate the schema, for which the whole object has to be rejected: it is kept.
	fragile bool
	// within are the fields of the structure, nil if it is compared as a whole.
	within []part
}

// prunedDepth is the depth to which structures are pruned: spec.template.spec.securityContext, and metadata.
const prunedDepth = 5

// newPruner returns a pruner for a kind's objects. A structure that would disappear if it were empty is compared as a
// whole.
func newPruner(root *shape) *pruner {
	return &pruner{partsOf(root, prunedDepth, map[*shape]bool{})}
}

func partsOf(sh *shape, depth int, broken map[*shape]bool) []part {
	if sh.form != structure || sh.atomic || sh.ownJSON || depth == 0 {
		return nil
	}
	var parts []part
	for i := range sh.fields {
		f := &sh.fields[i]
		if depth == prunedDepth && (f.Name == "apiVersion" || f.Name == "kind") { // the type of the object is not compared
			continue
		}
		breaks, known := broken[f.shape]
		if !known {
			breaks = f.shape.breaks(map[*shape]bool{})
			broken[f.shape] = breaks
		}
		p := part{Field: f.Field, written: f.written, fragile: breaks}
		if k := f.Type.Kind(); k == reflect.Pointer || k == reflect.Struct && !f.OmitZero {
			p.within = partsOf(f.shape, depth-1, broken)
		}
		parts = append(parts, p)
	}
	return parts
}

// prune returns both objects without the fields that are equal in both; the rest shares memory with the arguments. They
// are of the kind's Go type. names are the last names of the paths to the remaining fields of either, as FieldsV1 has
// them.
func (p *pruner) prune(a, b runtime.Object) (x, y runtime.Object, names []string) {
	x, y = shallow(a), shallow(b)
	return x, y, prune(reflect.ValueOf(x).Elem(), reflect.ValueOf(y).Elem(), p.parts, nil)
}

func prune(a, b reflect.Value, parts []part, names []string) []string {
	for i := range parts {
		p := &parts[i]
		x, y := p.In(a), p.In(b)
		switch {
		case x.IsZero() && y.IsZero():
		case !p.fragile && reflect.DeepEqual(x.Interface(), y.Interface()):
			x.SetZero()
			y.SetZero()
		case p.within != nil && x.Kind() == reflect.Struct:
			names = prune(x, y, p.within, names)
		case p.within != nil && !x.IsNil() && !y.IsNil() && x.Elem().Kind() == reflect.Struct:
			x.Set(copied(x))
			y.Set(copied(y))
			names = prune(x.Elem(), y.Elem(), p.within, names)
		default:
			names = append(names, p.written)
		}
	}
	return names
}

// copied returns a pointer to a copy of the value that v points to.
func copied(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	return c
}
