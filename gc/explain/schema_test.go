package explain

import (
	"reflect"
	"slices"
	"testing"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/schema"
)

// TestSchema compares docs/explain.schema.json with the answers.
func TestSchema(t *testing.T) {
	d, err := schema.Read("../../docs/explain.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	names := schema.Names{
		reflect.TypeFor[ObjectReference](): "object", reflect.TypeFor[graph.Owner](): "ownerReference",
		reflect.TypeFor[Node](): "node", reflect.TypeFor[Tree](): "tree",
		reflect.TypeFor[Hidden](): "notListed", reflect.TypeFor[Asked](): "admission",
		reflect.TypeFor[Reason](): "why", reflect.TypeFor[Cause](): "cause",
		reflect.TypeFor[Remedy](): "remedy", reflect.TypeFor[Action](): "action",
		reflect.TypeFor[Preview](): "preview", reflect.TypeFor[Change](): "change", reflect.TypeFor[What](): "what",
		reflect.TypeFor[Left](): "left", reflect.TypeFor[Dangling](): "dangling",
		reflect.TypeFor[Count](): "count", reflect.TypeFor[Warning](): "warning",
		reflect.TypeFor[graph.Key](): "absent",
		reflect.TypeFor[Finding]():   "finding", reflect.TypeFor[Rule](): "rule",
	}
	for _, difference := range d.Differences(names) {
		t.Error(difference)
	}
	for of, name := range map[string]string{"Cause": "cause", "Action": "action", "What": "what", "Rule": "rule"} {
		want, err := schema.Constants(".", of)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Values(name); len(want) < 5 || !slices.Equal(want, got) {
			t.Errorf("%s: %q in the schema, %q in Go", name, got, want)
		}
	}
}
