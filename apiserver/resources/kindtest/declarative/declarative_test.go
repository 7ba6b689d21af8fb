// Package declarative compares validation with the declarative rules of the API types: the +k8s: tags in the comments
// of k8s.io/api. Rules of the level alpha only shadow kube-apiserver's handwritten validation, so both find the same
// errors; others are enforced, by the code that is generated from them (resources/internal/declared) or, in groups
// without it, by hand. It has tests only.
//
// It guarantees:
//
//  1. The rules are read from the module version in go.mod, at any level.
//  2. For each rule that sets a limit or requires a field of a served kind, an object that violates it has a
//     an error of the rule's type at the rule's field. Exceptions are listed with a reason, and must be exceptions.
//
// Not compared are rules of status, for which other validation is called, and tags other than required, minimum,
// maximum, maxItems, maxLength and maxBytes.
package declarative

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// types are the types of errors of each tag.
var types = map[string][]field.ErrorType{
	"required": {field.ErrorTypeRequired}, "minimum": {field.ErrorTypeInvalid}, "maximum": {field.ErrorTypeInvalid},
	"maxItems": {field.ErrorTypeTooMany}, "maxLength": {field.ErrorTypeTooLong}, "maxBytes": {field.ErrorTypeTooLong},
}

// exceptions are rules for which validation has no error of the same type at the same field, with the reason.
var exceptions = map[string]string{
	"k8s.io/api/core/v1.NodePodPreemptionPolicy.DisableResizePreemption maxItems=20": gateOff,
	"k8s.io/api/batch/v1.JobSchedulingConfiguration.ResourceClaims maxItems=4":       gateOff,
}

// gateOff: the field is forbidden, which ends its validation.
const gateOff = "its feature gate is off"

// TestHandwritten: a violated rule has an error, of the generated validation or of the handwritten one
// (V-039).
func TestHandwritten(t *testing.T) {
	byPackage := map[string][]*resources.Resource{}
	for _, r := range resources.Builtin() {
		typ := reflect.TypeOf(r.New()).Elem()
		if strings.HasPrefix(typ.PkgPath(), "k8s.io/api/") && r.Strategy.Validate != nil {
			byPackage[typ.PkgPath()] = append(byPackage[typ.PkgPath()], r)
		}
	}
	found := map[string]bool{}
	dirs := directories(t, slices.Sorted(maps.Keys(byPackage)))
	for pkg, kinds := range byPackage {
		for _, rule := range rules(t, pkg, dirs[pkg]) {
			for _, r := range kinds {
				tried, errs, at := try(rule, r)
				if !tried {
					continue
				}
				found[rule.String()] = true
				matches := slices.ContainsFunc(errs, func(e *field.Error) bool {
					return e.Field == at && slices.Contains(types[rule.tag], e.Type)
				})
				if reason := exceptions[rule.String()]; matches == (reason != "") {
					t.Errorf("%s, %s at %s: error is %t, exception %q; the errors are\n%v",
						r.Kind, rule, at, matches, reason, errs.ToAggregate())
				}
			}
		}
	}
	for name := range exceptions {
		if !found[name] {
			t.Errorf("exception %s is no rule", name)
		}
	}
	if len(found) < 30 {
		t.Errorf("only %d rules were tried", len(found))
	}
	t.Logf("%d rules", len(found))
}

// try validates an object of the kind that violates the rule and has what is on the way to its field. at is the path of
// that field. It is false if the kind has no such field.
func try(rule rule, r *resources.Resource) (tried bool, errs field.ErrorList, at string) {
	obj := r.New()
	v := reflect.ValueOf(obj).Elem()
	route := rule.route(v.Type(), map[reflect.Type]bool{})
	if route == nil {
		return false, nil, ""
	}
	var path *field.Path
	for i, f := range route {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if path == nil {
			path = field.NewPath(name)
		} else {
			path = path.Child(name)
		}
		v = v.FieldByIndex(f.Index)
		if i == len(route)-1 {
			break
		}
		switch v.Kind() {
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			v, path = v.Index(0), path.Index(0)
		}
	}
	if v.Kind() == reflect.Invalid || !rule.violate(v) {
		return false, nil, ""
	}
	return true, r.Strategy.Validate(obj), path.String()
}
