package fieldmanager

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// filler makes random objects.
func filler(seed int64) *randfill.Filler {
	codecs := serializer.NewCodecFactory(resources.Scheme())
	return fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, func(serializer.CodecFactory) []any {
		return []any{func(j *apiextensionsv1.JSON, c randfill.Continue) { j.Raw = fmt.Appendf(nil, `{"a":%d}`, c.Intn(3)) }}
	}), rand.NewSource(seed), codecs).NilChance(.4).NumElements(1, 2).MaxDepth(14)
}

// random returns an object of a kind in the form that decoding would give it.
func random(t *testing.T, f *randfill.Filler, res *resources.Resource) object {
	obj := res.New().(object)
	f.Fill(obj)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	delete(content["metadata"].(map[string]any), "managedFields")
	out := res.New().(object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, out); err != nil {
		t.Fatal(err)
	}
	out.GetObjectKind().SetGroupVersionKind(res.GroupVersionKind())
	return out
}

// client-go contains the schemas of all kinds of k8s.io/api. Objects must have the same fields with those schemas as
// with ours.
func TestFieldSetsEqualClientGo(t *testing.T) {
	want := applyconfigurations.NewTypeConverter(scheme.Scheme)
	own := []*converter{{kinds: &kinds{}, table: table}, {kinds: &kinds{}, table: table, core: true}}
	compared := 0
	for i, res := range table.All() {
		if res.Virtual || !scheme.Scheme.Recognizes(res.GroupVersionKind()) {
			continue
		}
		compared++
		f := filler(int64(i))
		for range 3 {
			obj := random(t, f, res)
			c := own[0]
			if res.Group == "" {
				c = own[1]
			}
			a, b := fieldSet(want, obj), fieldSet(c, obj)
			if d := cmp.Diff(a, b); d != "" {
				t.Errorf("seed %d, %s (-client-go +own):\n%s", i, res.GroupVersionKind(), d)
				break
			}
		}
	}
	if compared < 50 {
		t.Errorf("compared only %d kinds", compared)
	}
}

func fieldSet(c managedfields.TypeConverter, obj runtime.Object) string {
	v, err := c.ObjectToTyped(obj, typed.AllowDuplicates)
	if err != nil {
		return "error: " + err.Error()
	}
	set, err := v.ToFieldSet()
	if err != nil {
		return "error: " + err.Error()
	}
	data, err := set.ToJSON()
	if err != nil {
		return "error: " + err.Error()
	}
	return string(data)
}

// forget removes times, which depend on when the test runs, and writes fields in one form, because conversions through
// JSON escape HTML characters.
func forget(obj metav1.Object) {
	entries := obj.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
		data, err := json.Marshal(json.RawMessage(entries[i].FieldsV1.GetRawBytes()))
		if err != nil {
			panic(err) // a field manager writes JSON
		}
		entries[i].FieldsV1 = &metav1.FieldsV1{Raw: data}
	}
	obj.SetManagedFields(entries)
}
