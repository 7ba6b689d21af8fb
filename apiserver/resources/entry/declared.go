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

// Declared adds to the hooks of a group's entries the rules that its Go types declare. register is that of the
// generated code, and options are the feature gates that rules name, with their values. The errors of these rules
// follow those of the hooks (V-035), and are no more than a response has; rules of the level alpha have no effect, as
// upstream only counts how often they differ from its hooks (AS pkg/registry/rest/validate.go:
// ValidateDeclarativelyWithMigrationChecks). On an update a value that has not changed is not validated again (V-037).
func Declared(register func(*runtime.Scheme) error, options map[string]bool, entries []*Resource) []*Resource {
	d := declared{runtime.NewScheme(), options}
	if err := register(d.scheme); err != nil {
		panic(err) // the generated code has no error
	}
	for _, r := range entries {
		if !d.scheme.HasValidationFunc(r.New()) {
			continue
		}
		create := r.Strategy.Validate
		r.Strategy.Validate = func(obj runtime.Object) (errs field.ErrorList) {
			if create != nil {
				errs = create(obj)
			}
			return d.append(errs, obj, nil)
		}
		r.Strategy.ValidateUpdate = d.update(r.Strategy.ValidateUpdate)
		for i := range r.Subresources {
			sub := &r.Subresources[i]
			if sub.ValidateUpdate != nil && d.knows(r.New(), sub.Name) {
				sub.ValidateUpdate = d.update(sub.ValidateUpdate, sub.Name)
			}
		}
	}
	return entries
}

// declared are the rules of a group.
type declared struct {
	scheme  *runtime.Scheme
	options map[string]bool
}

// update adds the rules to a hook for updates.
func (d declared) update(
	hook func(obj, old runtime.Object) field.ErrorList, subresource ...string,
) func(obj, old runtime.Object) field.ErrorList {
	return func(obj, old runtime.Object) (errs field.ErrorList) {
		if hook != nil {
			errs = hook(obj, old)
		}
		return d.append(errs, obj, old, subresource...)
	}
}

// append appends the errors of the rules; old is nil for a new object. Long lists are validated part by part, so that a
// client that sends a million invalid items does not make a million errors.
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

// part returns the errors of the part of all long lists that begins with an item, and whether there is another part.
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

// orderKeys sorts errors of the keys and the values of one map, which the generated code visits in a random order: they
// follow each other, and differ in the key of the path, or in the value if the path is that of the map.
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

// mapKey is the first key in a path that is not an index.
var mapKey = regexp.MustCompile(`\[([^\]]*[^\]0-9][^\]]*)\]`)

// knows reports whether the generated code validates the subresource of a kind; it has an internal error for others.
func (d declared) knows(obj runtime.Object, subresource string) bool {
	for _, err := range d.scheme.ValidateUpdate(context.Background(), d.options, obj, obj, subresource) {
		if err.Type == field.ErrorTypeInternal {
			return false
		}
	}
	return true
}
