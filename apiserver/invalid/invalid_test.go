package invalid

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
				refs[i] = metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: fmt.Sprint(i), UID: "u", Controller: new(i%3999 == 0)}
			}
			return refs
		}()},
	} {
		want := apivalidation.ValidateObjectMeta(m, false, apivalidation.NameIsDNSSubdomain, at)
		got := Metadata(m, false, apivalidation.NameIsDNSSubdomain, at)
		if diff := cmp.Diff(want.ToAggregate(), got.ToAggregate(), cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })); diff != "" {
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
