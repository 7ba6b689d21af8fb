package apiextensions

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/objecttest"
)

// TestExcerptsAreExact: errors of a definition with long lists are those of the library.
func TestExcerptsAreExact(t *testing.T) {
	d := &apiextensionsv1.CustomResourceDefinition{}
	d.Spec.Names.ShortNames = objecttest.ListOf(mostEntries+7, func(i int) string { return fmt.Sprint("ok", i) })
	d.Spec.Names.Categories = objecttest.ListOf(mostEntries+7, func(i int) string {
		return map[bool]string{true: "ok", false: "!"}[i < mostEntries]
	})
	in, _ := internalDefinition(d)
	want := butMetadata(upstream.ValidateCustomResourceDefinition(t.Context(), in), true)
	if diff := cmp.Diff(want.ToAggregate().Error(), validateDefinition(d).ToAggregate().Error()); diff != "" {
		t.Errorf("few errors: -want +got\n%s", diff)
	}
	d.Spec.Versions = make([]apiextensionsv1.CustomResourceDefinitionVersion, mostEntries+7)
	in, _ = internalDefinition(d)
	want = butMetadata(upstream.ValidateCustomResourceDefinition(t.Context(), in), true)[:invalid.MaxErrors]
	if diff := cmp.Diff(
		want.ToAggregate().Error(), validateDefinition(d)[:invalid.MaxErrors].ToAggregate().Error(),
	); diff != "" {
		t.Errorf("many errors: -want +got\n%s", diff)
	}
}
