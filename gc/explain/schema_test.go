package explain

import (
	"reflect"
	"slices"
	"testing"

	"github.com/kubecascade/kubecascade/internal/schema"
)

// TestSchema compares docs/explain.schema.json with the answers.
func TestSchema(t *testing.T) {
	d, err := schema.Read("../../docs/explain.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	names := schema.Names{
		reflect.TypeFor[objectJSON](): "object", reflect.TypeFor[ownerJSON](): "ownerReference",
		reflect.TypeFor[nodeJSON](): "node", reflect.TypeFor[treeJSON](): "tree",
		reflect.TypeFor[hiddenJSON](): "notListed", reflect.TypeFor[askedJSON](): "admission",
		reflect.TypeFor[reasonJSON](): "why", reflect.TypeFor[Reason](): "why", reflect.TypeFor[Cause](): "cause",
		reflect.TypeFor[remedyJSON](): "remedy", reflect.TypeFor[Action](): "action",
		reflect.TypeFor[previewJSON](): "preview", reflect.TypeFor[changeJSON](): "change", reflect.TypeFor[What](): "what",
		reflect.TypeFor[leftJSON](): "left", reflect.TypeFor[danglingJSON](): "dangling",
		reflect.TypeFor[countJSON](): "count", reflect.TypeFor[warningJSON](): "warning",
		reflect.TypeFor[absentJSON]():  "absent",
		reflect.TypeFor[findingJSON](): "finding", reflect.TypeFor[Rule](): "rule",
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
