package fieldmanager

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// managedThing is an unstructured object with an entry of each manager.
func managedThing(managers ...string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "A",
		"metadata": map[string]any{"name": "a"}}}
	var entries []metav1.ManagedFieldsEntry
	for _, name := range managers {
		entries = append(entries, entry(name, 1, `{"f:data":{}}`))
	}
	if entries != nil {
		u.SetManagedFields(entries)
	}
	return u
}

//
func TestGuardOfCustomResources(t *testing.T) {
	in := func(u *unstructured.Unstructured) map[string]any {
		return u.Object["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)
	}
	type thing = *unstructured.Unstructured
	set := func(entries ...metav1.ManagedFieldsEntry) func(thing) {
		return func(u thing) { u.SetManagedFields(entries) }
	}
	many := make([]metav1.ManagedFieldsEntry, MaxEntries+1)
	for name, c := range map[string]struct {
		admit func(u thing)
		want  thing
		warns int
	}{
		"nothing":           {func(u thing) {}, managedThing("a"), 0},
		"a valid change":    {func(u thing) { in(u)["manager"] = "b" }, managedThing("b"), 0},
		"all removed":       {set(), managedThing(), 0},
		"an invalid change": {func(u thing) { in(u)["operation"] = "x" }, managedThing("a"), 1},
		"a set made invalid": {func(u thing) { in(u)["fieldsV1"] = map[string]any{"x": nil} },
			managedThing("a"), 1},
		"another object":      {func(u thing) { u.Object = managedThing("b", "c").Object }, managedThing("b", "c"), 0},
		"an invalid list":     {set(metav1.ManagedFieldsEntry{}), managedThing("a"), 1},
		"one entry too many":  {set(many...), managedThing("a"), 1},
		"a change in its set": {func(u thing) { delete(in(u)["fieldsV1"].(map[string]any), "f:data") }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			u := managedThing("a")
			warned := 0
			if err := Guard(u, func(string) { warned++ }, func() error { c.admit(u); return nil }); err != nil {
				t.Fatal(err)
			}
			if c.want == nil {
				c.want = managedThing("a")
				in(c.want)["fieldsV1"] = map[string]any{}
			}
			if d := cmp.Diff(c.want.Object, u.Object); d != "" || warned != c.warns {
				t.Errorf("%d warnings (-want +got):\n%s", warned, d)
			}
		})
	}
	u := managedThing()
	if err := Guard(u, func(string) {}, func() error {
		u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x"}})
		return nil
	}); err != nil || len(u.GetManagedFields()) > 0 {
		t.Errorf("invalid entries were left where there were none: %v, %v", u.Object, err)
	}
}

// TestTimesDiffer: the times of lists in a custom resource's content are compared as those of entries are.
func TestTimesDiffer(t *testing.T) {
	lists := [][]metav1.ManagedFieldsEntry{
		nil,
		{entry("a", 1, `{"f:data":{}}`)}, {entry("a", 2, `{"f:data":{}}`)}, {entry("b", 1, `{"f:data":{}}`)},
		{entry("a", 1, `{"f:data":{"f:a":{}}}`)}, {entry("a", 1, `{"f:data":{}}`), entry("b", 1, `{}`)},
		{entry("a", 1, `{"f:data":{}}`), entry("b", 2, `{}`)}, {{Manager: "a"}}, {{Manager: "a", Subresource: "status"}},
	}
	for _, a := range lists {
		for _, b := range lists {
			x, y := managedThing(), managedThing()
			x.SetManagedFields(a)
			y.SetManagedFields(b)
			in, _ := content(x)
			was, _ := content(y)
			if want := len(a) == len(b) && onlyTimesDiffer(a, b); timesDiffer(in, was) != want {
				t.Errorf("%v and %v: %v, want %v", in, was, !want, want)
			}
		}
	}
}

// TestClaims: an entry that may own managedFields is found in the content as in the entries.
func TestClaims(t *testing.T) {
	for fields, want := range map[string]bool{
		`{"f:metadata":{"f:labels":{}}}`: false, `{"f:metadata":{"f:managedFields":{}}}`: true,
		`{"f:metadata":{"f:managedFields":{"k:{}":{}}}}`: true, `{}`: false,
	} {
		u := managedThing()
		u.SetManagedFields([]metav1.ManagedFieldsEntry{entry("b", 1, `{}`), entry("a", 1, fields)})
		n, claims := claimsOf(u)
		if n != 2 || claims != want || claimed(u.GetManagedFields()) != want {
			t.Errorf("%s: %v of %d, want %v", fields, claims, n, want)
		}
	}
}
