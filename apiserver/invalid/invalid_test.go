package invalid

import (
	"testing"

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

// TestCausesAreLimited: the number and the length of causes are limited.
func TestCausesAreLimited(t *testing.T) {
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
