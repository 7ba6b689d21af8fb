package invalid

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var at = field.NewPath("metadata")

func many(n int, name func(int) string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = name(i)
	}
	return list
}

// TestMetadata: lists that are long but valid, or with errors that stand late, have the errors that apimachinery finds.
func TestMetadata(t *testing.T) {
	odd := func(wrong int) func(int) string {
		return func(i int) string {
			if i == wrong {
				return "not valid"
			}
			return fmt.Sprint("example.com/", i)
		}
	}
	entries := func(keys []string) map[string]string {
		m := map[string]string{}
		for _, k := range keys {
			m[k] = "x"
		}
		return m
	}
	for name, m := range map[string]*metav1.ObjectMeta{
		"empty":               {},
		"valid finalizers":    {Name: "a", Finalizers: many(5000, odd(-1))},
		"one finalizer":       {Name: "a", Finalizers: many(5000, odd(4999))},
		"both of collector's": {Name: "a", Finalizers: append(many(3000, odd(-1)), "orphan", "foregroundDeletion")},
		"one label":           {Name: "a", Labels: entries(many(5000, odd(17)))},
		"one annotation":      {Name: "a", Annotations: entries(many(5000, odd(17)))},
		"two controllers": {Name: "a", OwnerReferences: func() []metav1.OwnerReference {
			refs := make([]metav1.OwnerReference, 4000)
			for i := range refs {
				refs[i] = metav1.OwnerReference{
					APIVersion: "v1", Kind: "Pod", Name: fmt.Sprint(i), UID: "u", Controller: new(i%3999 == 0),
				}
			}
			return refs
		}()},
	} {
		want := apivalidation.ValidateObjectMeta(m, false, apivalidation.NameIsDNSSubdomain, at)
		got := Metadata(m, false, apivalidation.NameIsDNSSubdomain, at)
		if diff := cmp.Diff(want.ToAggregate(), got.ToAggregate(), cmp.Comparer(func(a, b error) bool {
			return fmt.Sprint(a) == fmt.Sprint(b)
		})); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", name, diff)
		}
	}
}

// TestManyErrors: what is found is bounded, and its first are apimachinery's first.
func TestManyErrors(t *testing.T) {
	keys := many(20_000, func(i int) string { return strings.Repeat("!", 1+i%70) + fmt.Sprint(i) })
	m := &metav1.ObjectMeta{Name: "a", Finalizers: keys, Labels: map[string]string{}, Annotations: map[string]string{}}
	for _, k := range keys {
		m.Labels[k], m.Annotations[k] = "", ""
	}
	for name, m := range map[string]*metav1.ObjectMeta{
		"finalizers": {Name: "a", Finalizers: m.Finalizers},
		"labels":     {Name: "a", Labels: m.Labels},
		"all":        m,
	} {
		got := Metadata(m, false, apivalidation.NameIsDNSSubdomain, at)
		if n := len(got); n < MaxErrors || n > 3*(MaxErrors+3*step) {
			t.Errorf("%s: %d errors", name, n)
		}
	}
	finalizers := &metav1.ObjectMeta{Name: "a", Finalizers: m.Finalizers}
	want := apivalidation.ValidateObjectMeta(finalizers, false, apivalidation.NameIsDNSSubdomain, at)[:MaxErrors]
	got := Metadata(finalizers, false, apivalidation.NameIsDNSSubdomain, at)[:MaxErrors]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestNew bounds an answer by number and by length.
func TestNew(t *testing.T) {
	kind := schema.GroupKind{Kind: "Service"}
	list := many(60_000, func(int) string { return "10.0.0.1" })
	var short, long field.ErrorList
	for i := range 2 * MaxErrors {
		short = append(short, field.Required(at.Index(i), ""))
		long = append(long, field.Invalid(at.Index(i), list, "quotes the whole list"))
	}
	if n := len(New(kind, "a", short).ErrStatus.Details.Causes); n != MaxErrors {
		t.Errorf("%d causes", n)
	}
	if n := len(New(kind, "a", long).ErrStatus.Details.Causes); n != 1 {
		t.Errorf("%d causes that quote a long list", n)
	}
}

// TestEach visits all items until the errors are enough.
func TestEach(t *testing.T) {
	list := many(2*MaxErrors, func(i int) string { return fmt.Sprint(i) })
	var errs, none field.ErrorList
	for i, item := range Each(list, &errs) {
		if item != list[i] {
			t.Fatalf("%s at %d", item, i)
		}
		if i%2 == 1 {
			errs = append(errs, field.Required(at.Index(i), ""))
		}
	}
	if len(errs) != MaxErrors || errs[MaxErrors-1].Field != at.Index(len(list)-1).String() {
		t.Errorf("%d errors, the last at %s", len(errs), errs[len(errs)-1].Field)
	}
	visited := 0
	for range Each(list, &errs) {
		visited++
	}
	for i := range Each(list, &none) {
		if visited++; i == 2 {
			break
		}
	}
	for range Each(list, nil) {
		visited++
	}
	if visited != 3+len(list) {
		t.Errorf("%d visited", visited)
	}
}

// TestSelector: the errors are apimachinery's, and of long lists its first.
func TestSelector(t *testing.T) {
	values := func(n, wrong int) []string {
		return many(n, func(i int) string {
			if i >= wrong {
				return "not valid"
			}
			return fmt.Sprint(i)
		})
	}
	in := func(v []string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: v}
	}
	odd := metav1.LabelSelectorRequirement{Key: "not valid", Operator: "Near"}
	for name, s := range map[string]*metav1.LabelSelector{
		"none":  nil,
		"empty": {},
		"valid": {
			MatchLabels:      map[string]string{"a": "b"},
			MatchExpressions: []metav1.LabelSelectorRequirement{in(values(5000, 5000))},
		},
		"a late value":           {MatchExpressions: []metav1.LabelSelectorRequirement{in(values(5000, 4999))}},
		"wrong values":           {MatchExpressions: []metav1.LabelSelectorRequirement{odd, in(values(5000, 0)), odd}},
		"wrong expressions":      {MatchExpressions: []metav1.LabelSelectorRequirement{odd, odd, odd}},
		"many wrong expressions": {MatchExpressions: slices.Repeat([]metav1.LabelSelectorRequirement{odd}, 5000)},
	} {
		for _, tolerant := range []bool{false, true} {
			opts := v1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: tolerant}
			want := v1validation.ValidateLabelSelector(s, opts, at)
			got := Selector(s, opts, at)
			if len(got) > 2*MaxErrors+3*step {
				t.Errorf("%s: %d errors", name, len(got))
			}
			if diff := cmp.Diff(want[:min(len(want), MaxErrors)], got[:min(len(got), MaxErrors)]); diff != "" {
				t.Errorf("%s: want -, got +:\n%s", name, diff)
			}
		}
		want, wantErr := metav1.LabelSelectorAsSelector(s)
		got, gotErr := AsSelector(s)
		if (wantErr == nil) != (gotErr == nil) || wantErr == nil && want.String() != got.String() {
			t.Errorf("%s: %v %v, want %v %v", name, got, gotErr, want, wantErr)
		}
	}
}

// TestConditions does so for conditions.
func TestConditions(t *testing.T) {
	valid := metav1.Condition{Status: "True", Reason: "A", LastTransitionTime: metav1.Now()}
	var list []metav1.Condition
	for i := range 5000 {
		c := valid
		c.Type = fmt.Sprint("a", i)
		list = append(list, c)
	}
	list[4999].Type = "a1"
	if diff := cmp.Diff(v1validation.ValidateConditions(list, at), Conditions(list, at)); diff != "" {
		t.Errorf("one error: want -, got +:\n%s", diff)
	}
	list = make([]metav1.Condition, 5000)
	got := Conditions(list, at)
	if diff := cmp.Diff(v1validation.ValidateConditions(list, at)[:MaxErrors], got[:MaxErrors]); diff != "" ||
		len(got) > MaxErrors+10*step {
		t.Errorf("%d errors: want -, got +:\n%s", len(got), diff)
	}
}

// TestManagedFields are bounded like the other lists of metadata.
func TestManagedFields(t *testing.T) {
	m := &metav1.ObjectMeta{Name: "a", ManagedFields: make([]metav1.ManagedFieldsEntry, 20_000)}
	want := apivalidation.ValidateObjectMeta(m, false, apivalidation.NameIsDNSSubdomain, at)[:MaxErrors]
	got := Metadata(m, false, apivalidation.NameIsDNSSubdomain, at)
	if diff := cmp.Diff(want, got[:MaxErrors]); diff != "" || len(got) > MaxErrors+3*step {
		t.Errorf("%d errors: want -, got +:\n%s", len(got), diff)
	}
}
