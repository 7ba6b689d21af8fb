package fieldmanager

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// randomFields returns a set of fields in random order, with duplicate and invalid names.
func randomFields(r *rand.Rand, depth int) string {
	var all []string
	for range r.IntN(6) {
		name := []string{
			`"f:%d"`, `"v:%d"`, `"k:{\"a\":%d}"`, `"i:%d"`, `"v:\"x%d\""`, `"f:\u0061%d"`, `"x:%d"`, `"." `,
		}[r.IntN(8)]
		if strings.Contains(name, "%d") {
			name = fmt.Sprintf(name, r.IntN(5))
		}
		value := "{}"
		if depth > 0 {
			value = randomFields(r, depth-1)
		}
		all = append(all, name+": "+value)
	}
	return "{ " + strings.Join(all, " , ") + " }"
}

func read(t *testing.T, raw []byte) *fieldpath.Set {
	t.Helper()
	s := fieldpath.NewSet()
	if err := s.FromJSON(bytes.NewReader(raw)); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return s
}

// TestSortedTwin: sorting does not change the set of fields.
func TestSortedTwin(t *testing.T) {
	sorted := 0
	for seed := range uint64(5000) {
		raw := []byte(randomFields(rand.New(rand.NewPCG(seed, 2)), 3))
		out, changed := sortFields(raw)
		if a, b := read(t, raw), read(t, out); !a.Equals(b) {
			t.Fatalf("seed %d:\n%s\n%s", seed, raw, out)
		}
		if again, changes := sortFields(out); changes || !bytes.Equal(again, out) {
			t.Fatalf("seed %d: sorted again:\n%s\n%s", seed, out, again)
		}
		if changed {
			sorted++
		}
	}
	if sorted < 1000 {
		t.Errorf("%d sets were sorted", sorted)
	}
}

// TestSortedAppends: each sorted field is greater than the previous one, so that it is appended when the fields are
// read.
func TestSortedAppends(t *testing.T) {
	var all []string
	for i := range 3000 {
		all = append(all, fmt.Sprintf(`"f:%d":{"f:x":{},".":{}},"v:%d":{}`, 3000-i, 3000-i))
	}
	raw := []byte("{" + strings.Join(all, ",") + "}")
	entries := []metav1.ManagedFieldsEntry{{Manager: "a", FieldsV1: &metav1.FieldsV1{Raw: raw}}, {Manager: "b"}}
	out, changed := Sorted(entries)
	if !changed || !bytes.Equal(entries[0].FieldsV1.Raw, raw) || !read(t, raw).Equals(read(t, out[0].FieldsV1.Raw)) {
		t.Fatal("not the same fields")
	}
	var last fieldpath.PathElement
	for i, m := range split(out[0].FieldsV1.Raw) {
		element, err := fieldpath.DeserializePathElement(strings.Trim(string(m.name), `"`))
		if err != nil || i > 0 && !last.Less(element) {
			t.Fatalf("%s follows %s: %v", element, last, err)
		}
		last = element
	}
	if _, changed := Sorted(out); changed {
		t.Error("sorted twice")
	}
}
