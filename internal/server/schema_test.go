package server

import (
	"reflect"
	"testing"

	"github.com/kubecascade/kubecascade/internal/schema"
)

// TestSettledSchema compares docs/explain.schema.json with the answer of settled.
func TestSettledSchema(t *testing.T) {
	d, err := schema.Read("../../docs/explain.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range d.Differences(schema.Names{
		reflect.TypeFor[settledAnswer](): "settled", reflect.TypeFor[settledWait](): "wait",
		reflect.TypeFor[settledObject](): "waitObject",
	}) {
		t.Error(difference)
	}
}
