package entry

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// Declared adds the rules that a group's Go types declare to the hooks of the group's entries. register is the function
// of the generated code. options has the feature gates that rules name, with their values. The errors of these rules
// follow those of the hooks (V-035). Their number is limited to that of a response. Rules of the level alpha have no
// effect: upstream only counts how often they differ from its hooks (AS pkg/registry/rest/validate.go:
// ValidateDeclarativelyWithMigrationChecks). An update does not validate unchanged values again (V-037).
func Declared(register func(*runtime.Scheme) error, options map[string]bool, entries []*Resource) []*Resource {
	d := declared{runtime.NewScheme(), options}
	if err := register(d.scheme); err != nil {
		panic(err) // impossible: the generated code returns no error
	}
	for _, r := range entries {
		if !d.scheme.HasValidationFunc(r.New()) {
			continue
		}
		r.Strategy.Validate = d.hook(r.Strategy.Validate)
		for i := range r.Subresources {
			sub := &r.Subresources[i]
			if sub.ValidateUpdate != nil && d.validates(r.New(), sub.Name) {
				sub.ValidateUpdate = d.hook(sub.ValidateUpdate, sub.Name)
			}
		}
	}
	return entries
}

// declared has the rules of a group.
type declared struct {
	scheme  *runtime.Scheme
	options map[string]bool
}

// hook returns a hook that also checks the rules.
func (d declared) hook(
	hook func(obj, old runtime.Object) field.ErrorList, subresource ...string,
) func(obj, old runtime.Object) field.ErrorList {
	return func(obj, old runtime.Object) (errs field.ErrorList) {
		if hook != nil {
			errs = hook(obj, old)
		}
		return d.append(errs, obj, old, subresource...)
	}
}

// append appends the errors of the rules; old is nil for a new object. It validates long lists in parts, so that a
// client that sends a million invalid items does not cause a million errors.
func (d declared) append(errs field.ErrorList, obj, old runtime.Object, subresource ...string) field.ErrorList {
	if obj == nil || invalid.Enough(errs) {
		return errs
	}
	now := excerptOf(obj)
	var was *excerpt
	if old != nil {
		was = excerptOf(old)
	}
	for start := 0; ; start += part {
		if found, more := d.part(now, was, start, subresource); len(found) > 0 || !more {
			return append(errs, found...)
		}
	}
}

// part validates one part of all long lists, which begins at the item start. It returns the errors, and whether there
// is another part.
func (d declared) part(now, was *excerpt, start int, subresource []string) (found field.ErrorList, more bool) {
	more = now.cut(start)
	var all field.ErrorList
	if was == nil {
		all = d.scheme.Validate(context.Background(), d.options, now.obj)
	} else {
		was.cut(start)
		all = d.scheme.ValidateUpdate(context.Background(), d.options, now.obj, was.obj, subresource...)
	}
	for _, err := range all {
		if !err.IsAlpha() {
			now.shift(err)
			found = append(found, err)
		}
	}
	orderKeys(found)
	return found, more
}

// orderKeys sorts errors of the keys and values of a map, because the generated code visits a map in random order. Such
// errors are adjacent. They differ in the key in the path, or in the value if the path is that of the map.
func orderKeys(errs field.ErrorList) {
	of := func(err *field.Error) (of, key string) {
		if at := mapKey.FindStringSubmatchIndex(err.Field); at != nil {
			return err.Field[:at[2]], err.Field[at[2]:at[3]]
		}
		return err.Field + "\x00" + err.Detail, fmt.Sprint(err.BadValue)
	}
	for start := 0; start < len(errs); {
		first, _ := of(errs[start])
		end := start + 1
		for ; end < len(errs); end++ {
			if other, _ := of(errs[end]); other != first {
				break
			}
		}
		slices.SortStableFunc(errs[start:end], func(a, b *field.Error) int {
			_, x := of(a)
			_, y := of(b)
			return strings.Compare(x, y)
		})
		start = end
	}
}

// mapKey matches the first key in a path that is not an index.
var mapKey = regexp.MustCompile(`\[([^\]]*[^\]0-9][^\]]*)\]`)

// validates reports whether the generated code validates the subresource of a kind. The code returns an internal error
// for other subresources.
func (d declared) validates(obj runtime.Object, subresource string) bool {
	for _, err := range d.scheme.ValidateUpdate(context.Background(), d.options, obj, obj, subresource) {
		if err.Type == field.ErrorTypeInternal {
			return false
		}
	}
	return true
}
