package patch

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"sort"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/internal/seed"
)

var things = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

// pruned is a coercion that removes the members "x", and reports them.
func pruned(obj runtime.Object) (unknown []string, err error) {
	u := obj.(*unstructured.Unstructured)
	if _, found := u.Object["x"]; found {
		delete(u.Object, "x")
		unknown = []string{"x"}
	}
	return unknown, nil
}

// anyJSON is a value of JSON, or something that is none.
func anyJSON(r *rand.Rand, depth int) string {
	if n := r.IntN(11); depth == 0 || n < 5 {
		return [...]string{"null", "1", "0.5", `"a"`, `"\ud800<"`, "true", "3.0", "-0", "1e3", "null", "null"}[r.IntN(11)]
	} else if n < 7 {
		var items []string
		for range r.IntN(3) {
			items = append(items, anyJSON(r, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for _, name := range []string{"a", "b", "c", "a"} {
		if r.IntN(3) == 0 {
			members = append(members, `"`+name+`":`+anyJSON(r, depth-1))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// TestMergeContent: what is merged into the content of a custom resource is what the library makes of its JSON.
func TestMergeContent(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	merged := 0
	for range 20000 {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":` +
			anyJSON(r, 3) + `,"status":` + anyJSON(r, 2) + `}`)); err != nil {
			t.Fatal(err)
		}
		members := []string{`"spec":` + anyJSON(r, 3), `"new":` + anyJSON(r, 2)}
		for _, odd := range []string{
			`"x":1`, `"kind":"Other"`, `"apiVersion":null`, `"spec":null`, `"metadata":1`, `"Kind":1`, "\"\u212aind\":\"Other\"",
		} {
			if r.IntN(30) == 0 {
				members = append(members, odd)
			}
		}
		if mergedAlike(t, u, "{"+strings.Join(members, ",")+"}") {
			merged++
		}
		if t.Failed() {
			return
		}
	}
	if merged < 4000 {
		t.Errorf("only %d patches were merged", merged)
	}
	for _, odd := range []string{"null", "[]", "1", "{", "", `{"a":1e999}`} {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Thing"}}
		if mergedAlike(t, u, odd) {
			t.Errorf("%q is merged", odd)
		}
	}
}

// mergedAlike reports whether a patch was merged, and fails if by JSON it has another result.
func mergedAlike(t *testing.T, u *unstructured.Unstructured, document string) bool {
	t.Helper()
	p := mergePatch(document)
	p.Strictness = metav1.FieldValidationStrict
	before := u.DeepCopy()
	got, ok := p.mergeContent(u, things, pruned)
	if !reflect.DeepEqual(u, before) {
		t.Errorf("%s changes what it was applied to: %v", document, u.Object)
	}
	if !ok {
		return false
	}
	want, err := p.byJSON(u, things, pruned)
	if err != nil || !reflect.DeepEqual(want, got) {
		data, _ := json.Marshal(u)
		t.Errorf("%s of %s is %v, by JSON %v: %v", document, data, got, want, err)
	}
	return true
}

// TestMergeDeep: a patch that makes an object too expensive to decode is applied to JSON, which rejects it. What is
// deep is in the object, as the library reads what a patch adds once for each level.
func TestMergeDeep(t *testing.T) {
	const levels = 3000
	document := func(n int) []byte {
		return []byte(`{"apiVersion":"example.com/v1","kind":"Thing","spec":` + strings.Repeat(`{"a":`, levels) +
			`"` + strings.Repeat("a", n) + `"` + strings.Repeat("}", levels) + `}`)
	}
	most := sort.Search(1<<20, func(n int) bool { return codec.CheckWork(document(n)) != nil }) - 1
	longer := `{"spec":{"b":"` + strings.Repeat("b", 2*levels) + `"}}`
	for _, c := range []struct {
		n                int
		patch            string
		merged, accepted bool
	}{
		{most / 20, longer, true, true},
		{most, `{}`, false, true},
		{most, longer, false, false},
	} {
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(document(c.n), &u.Object); err != nil {
			t.Fatal(err)
		}
		p := &Patch{Kind: types.MergePatchType, Bytes: []byte(c.patch), Strictness: "Ignore"}
		if _, merged := p.mergeContent(u, things, pruned); merged != c.merged {
			t.Errorf("%d letters and %d bytes are merged: %v", c.n, len(c.patch), merged)
		}
		if _, err := p.Apply(u, things, pruned); (err == nil) != c.accepted {
			t.Errorf("%d letters and %d bytes: %v", c.n, len(c.patch), err)
		}
	}
}
