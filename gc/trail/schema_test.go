package trail

import (
	"reflect"
	"slices"
	"testing"

	"github.com/kubecascade/kubecascade/internal/schema"
)

// TestSchema compares docs/explain.schema.json with the answer.
func TestSchema(t *testing.T) {
	d, err := schema.Read("../../docs/explain.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range d.Differences(schema.Names{
		reflect.TypeFor[Answer](): "trail", reflect.TypeFor[Object](): "object", reflect.TypeFor[Moment](): "moment",
		reflect.TypeFor[Removal](): "removal", reflect.TypeFor[Request](): "request", reflect.TypeFor[Owner](): "owner",
		reflect.TypeFor[Reason](): "trailReason",
	}) {
		t.Error(difference)
	}
	want, err := schema.Constants(".", "Reason")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Values("trailReason"); len(want) < 9 || !slices.Equal(want, got) {
		t.Errorf("%q in the schema, %q in Go", got, want)
	}
}
