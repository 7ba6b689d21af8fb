// Package declarative compares validation with the declarative rules of the API types: the +k8s: tags in the comments
// of k8s.io/api. kube-apiserver enforces rules of the levels beta and stable, and so does the generated code
// (resources/internal/declared). It compares rules of the level alpha with its handwritten validation, so both find the
// same errors. This package has only tests.
//
// It guarantees:
//
//  1. The rules are read from the module version in go.mod, at any level.
//  2. For each rule that sets a limit or requires a field of a served kind, an object that violates it has an error of
//     the rule's type at the rule's field.
//  3. testdata/rules.txt has each rule of each built-in kind, and the code that enforces it. For handwritten code, it
//     also has the reason.
//
// No object violates rules of status, for which other validation is called, rules of fields whose feature gate is off,
// and tags other than required, minimum, maximum, maxItems, maxLength and maxBytes.
package declarative

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

var types = map[string][]field.ErrorType{
	"required": {field.ErrorTypeRequired}, "minimum": {field.ErrorTypeInvalid}, "maximum": {field.ErrorTypeInvalid},
	"maxItems": {field.ErrorTypeTooMany}, "maxLength": {field.ErrorTypeTooLong}, "maxBytes": {field.ErrorTypeTooLong},
}

// TestEachViolatedRuleHasAnError: a violated rule results in an error of the generated or of the handwritten validation
// (V-039).
func TestEachViolatedRuleHasAnError(t *testing.T) {
	found := map[string]bool{}
	from := newSources(t)
	for _, r := range resources.Builtin() {
		if r.Strategy.Validate == nil {
			continue
		}
		for _, rule := range from.within(t, reflect.TypeOf(r.New()).Elem()) {
			name, _ := rule.limit()
			if name == "" || rule.gate != "" {
				continue
			}
			tried, errs, at := try(rule, r)
			if !tried {
				continue
			}
			found[rule.String()] = true
			if !slices.ContainsFunc(errs, func(e *field.Error) bool {
				return e.Field == at && slices.Contains(types[name], e.Type)
			}) {
				t.Errorf("%s, %s at %s: the errors are\n%v", r.Kind, rule, at, errs.ToAggregate())
			}
		}
	}
	if len(found) < 50 {
		t.Errorf("only %d rules were tried", len(found))
	}
}

// try validates an object of the kind that violates the rule. The object has all fields on the path to the rule's
// field, and at is this path. tried is false if the kind has no such field.
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
	return true, r.Strategy.Validate(obj, nil), path.String()
}
