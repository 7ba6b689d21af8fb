package fieldmanager

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/openapi"
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

// written are the entries that are written.
func written() (all []*resources.Resource) {
	for _, res := range table.All() {
		if res.Collection != "" {
			all = append(all, res)
		}
	}
	return all
}

// client-go carries the schemas of all kinds of k8s.io/api. Objects must have the same fields by
// theirs as by ours.
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

// plain is the straight way to a field manager: the schemas of whole documents, and conversions
// that copy.
type plain struct{ res *resources.Resource }

func (p plain) New(schema.GroupVersionKind) (runtime.Object, error) { return p.res.New(), nil }

func (p plain) Default(obj runtime.Object) {
	if d := p.res.Strategy.Default; d != nil {
		d(obj)
	}
}

func (p plain) ConvertToVersion(obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gvk := p.res.GroupVersionKind()
	if gv := target.(schema.GroupVersion); gv.Version != runtime.APIVersionInternal && gv != gvk.GroupVersion() {
		return nil, runtime.NewNotRegisteredErrForKind("test", gvk)
	}
	out := p.res.New()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, out); err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return out, nil
}

func (plain) Convert(in, out, context any) error { return errors.New("not used") }

func (plain) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", errors.New("not used")
}

// straightConverters returns what makes converters of the schemas of whole documents, one a group version.
func straightConverters(t *testing.T) func(schema.GroupVersion) managedfields.TypeConverter {
	made := map[schema.GroupVersion]managedfields.TypeConverter{}
	return func(gv schema.GroupVersion) managedfields.TypeConverter {
		if made[gv] == nil {
			definitions, err := openapi.Definitions(documented(gv)...)
			if err != nil {
				t.Fatal(err)
			}
			if made[gv], err = managedfields.NewTypeConverter(definitions, false); err != nil {
				t.Fatal(err)
			}
		}
		return made[gv]
	}
}

// The managed fields of random writes are those that apimachinery's field manager makes if it is
// given everything the straight way.
func TestTwin(t *testing.T) {
	straight := straightConverters(t)
	m := New(Config{Types: table})
	for i, res := range written() {
		for _, sub := range endpointsOf(res) {
			t.Run(res.GroupResource().String()+"/"+sub, func(t *testing.T) {
				hub := schema.GroupVersion{Group: res.Group, Version: runtime.APIVersionInternal}
				p := plain{res}
				reference, err := managedfields.NewDefaultFieldManager(straight(res.GroupVersion()), p, p, p,
					res.GroupVersionKind(), hub, sub,
					resets(res, sub, []*resources.Resource{res}))
				if err != nil {
					t.Fatal(err)
				}
				w := &world{
					t: t, m: m, res: res, sub: sub, reference: reference, fill: filler(int64(i)),
					random: rand.New(rand.NewSource(int64(i))),
				}
				for range 2 {
					w.run()
				}
			})
		}
	}
}

func documented(gv schema.GroupVersion) (all []openapi.Type) {
	for _, res := range table.All() {
		if res.GroupVersion() != gv {
			continue
		}
		all = append(all, openapi.Type{Group: res.Group, Version: res.Version, Kind: res.Kind, Plural: res.Plural,
			Namespaced: res.Namespaced, Verbs: res.Verbs, Object: res.New()})
	}
	return all
}

func endpointsOf(res *resources.Resource) []string {
	subs := []string{""}
	for _, sub := range res.Subresources {
		if sub.Action == resources.Status || sub.Action == resources.Part {
			subs = append(subs, sub.Name)
		}
	}
	return subs
}

// world writes one object again and again, both ways.
type world struct {
	t         *testing.T
	m         *Managers
	res       *resources.Resource
	sub       string
	reference *managedfields.FieldManager
	fill      *randfill.Filler
	random    *rand.Rand
}

func (w *world) run() {
	var live object
	past := random(w.t, w.fill, w.res)
	for step := range 6 {
		var next object
		switch w.random.Intn(4) {
		case 0:
			next = past.DeepCopyObject().(object) // an earlier state comes back
		case 1:
			next = w.mixed(past, random(w.t, w.fill, w.res))
		default:
			next = random(w.t, w.fill, w.res)
		}
		if live != nil {
			past = live
			next.SetManagedFields(w.entries(live))
		} else if w.random.Intn(2) == 0 {
			next.SetManagedFields(claims)
		}
		if w.random.Intn(3) == 0 {
			live = w.apply(step, live, next)
		} else {
			live = w.write(step, live, next)
		}
		if live == nil {
			continue
		}
		live.SetUID(types.UID("uid"))
	}
}

// claims are what a client may say of itself.
var claims = []metav1.ManagedFieldsEntry{{Manager: "client", Operation: "Apply", APIVersion: "v1",
	FieldsType: "FieldsV1",
	FieldsV1:   &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{"f:x":{}},"f:managedFields":{}},"f:spec":{}}`)}}}

func (w *world) entries(live object) []metav1.ManagedFieldsEntry {
	switch w.random.Intn(8) {
	case 0:
		return nil
	case 1:
		return []metav1.ManagedFieldsEntry{{Manager: "no operation"}}
	case 2:
		return []metav1.ManagedFieldsEntry{{}}
	case 3:
		return append(claims, live.GetManagedFields()...)
	}
	return live.GetManagedFields()
}

// mixed takes the top level fields from one object or the other.
func (w *world) mixed(a, b object) object {
	x, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	if err != nil {
		w.t.Fatal(err)
	}
	y, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, key := range slices.Sorted(maps.Keys(y)) {
		if w.random.Intn(2) == 0 {
			x[key] = y[key]
		}
	}
	out := w.res.New().(object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(x, out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) write(step int, live, next object) object {
	manager := fmt.Sprint("m", w.random.Intn(12))
	if w.random.Intn(2) == 0 {
		manager = "m0" // who often writes again
	}
	want := w.reference.UpdateNoErrors(w.seen(live), w.seen(w.stored(next)), manager).(object)
	before := w.stored(live)
	was := w.stored(live)
	got := w.m.Update(w.res, w.sub, was, w.stored(next), manager).(object)
	if d := cmp.Diff(renewed(want), renewed(got)); d != "" {
		w.t.Fatalf("step %d, update by %s: entries with a new time (-field manager +own):\n%s", step, manager, d)
	}
	forget(want)
	forget(got)
	if d := cmp.Diff(want.GetManagedFields(), got.GetManagedFields()); d != "" {
		w.t.Fatalf("step %d, update by %s (-field manager +own):\n%s", step, manager, d)
	}
	entries := got.GetManagedFields()
	want.SetManagedFields(nil)
	got.SetManagedFields(nil)
	if d := cmp.Diff(want, w.seen(got)); d != "" {
		w.t.Fatalf("step %d: object (-field manager +own):\n%s", step, d)
	}
	if d := cmp.Diff(before, was); d != "" {
		w.t.Fatalf("step %d: what is stored was changed:\n%s", step, d)
	}
	out := w.seen(got).(object)
	out.SetManagedFields(entries)
	return out
}

// apply applies some of an object's fields.
func (w *world) apply(step int, live, config object) object {
	config.SetManagedFields(nil)
	config.SetUID("")
	config.SetDeletionTimestamp(nil)
	config.SetDeletionGracePeriodSeconds(nil)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.seen(w.stored(config)))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, key := range slices.Sorted(maps.Keys(content)) {
		if key != "apiVersion" && key != "kind" && w.random.Intn(3) == 0 {
			delete(content, key)
		}
	}
	document, err := json.Marshal(content)
	if err != nil {
		w.t.Fatal(err)
	}
	patch := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(document, &patch.Object); err != nil {
		w.t.Fatal(err)
	}
	manager, force := fmt.Sprint("m", w.random.Intn(4)), w.random.Intn(2) == 0
	want, wantErr := w.reference.Apply(w.seen(w.stored(live)), patch, manager, force)
	before, was := w.stored(live), w.stored(live)
	got, gotErr := w.m.Apply(w.res, w.sub, was, document, manager, force, "Ignore", nil)
	if d := cmp.Diff(lines(wantErr), lines(gotErr)); d != "" {
		w.t.Fatalf("step %d, apply by %s: error (-field manager +own):\n%s", step, manager, d)
	}
	if d := cmp.Diff(before, was); d != "" {
		w.t.Fatalf("step %d: what is stored was changed:\n%s", step, d)
	}
	if wantErr != nil {
		return live
	}
	result := w.seen(got).(object)
	forget(want.(object))
	forget(result)
	if d := cmp.Diff(want, runtime.Object(result)); d != "" {
		w.t.Fatalf("step %d, apply by %s (-field manager +own):\n%s", step, manager, d)
	}
	return result
}

// stored returns a copy of an object in the stored version, nil of nil.
func (w *world) stored(obj object) runtime.Object {
	return w.converted(obj, w.res.ToStored)
}

// seen returns a copy in the version of the endpoint, an empty object of nil.
func (w *world) seen(obj runtime.Object) runtime.Object {
	if o, ok := obj.(object); ok && o != nil {
		return w.converted(o, w.res.FromStored)
	}
	return w.res.New()
}

func (w *world) converted(obj object, convert func(runtime.Object) (runtime.Object, error)) runtime.Object {
	if obj == nil {
		return nil
	}
	out := obj.DeepCopyObject()
	if convert == nil {
		return out
	}
	out, err := convert(out)
	if err != nil {
		w.t.Skipf("a random object that doesn't convert: %v", err)
	}
	return out
}

// lines sorts the lines of an error: the errors within a map come in any order.
func lines(err error) []string {
	all := strings.Split(fmt.Sprint(err), "\n")
	slices.Sort(all)
	return all
}

// renewed lists the managers of entries with a time; what is stored has none, as forget took them away.
func renewed(obj metav1.Object) (all []string) {
	for _, e := range obj.GetManagedFields() {
		if e.Time != nil {
			all = append(all, fmt.Sprint(e.Manager, " ", e.Operation, " ", e.Subresource))
		}
	}
	return all
}

// forget takes the times away, which are those of the test, and writes fields in one form:
// conversions by way of JSON escape what is HTML.
func forget(obj metav1.Object) {
	entries := obj.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
		data, err := json.Marshal(json.RawMessage(entries[i].FieldsV1.GetRawBytes()))
		if err != nil {
			panic(err) // what a field manager wrote is JSON
		}
		entries[i].FieldsV1 = &metav1.FieldsV1{Raw: data}
	}
	obj.SetManagedFields(entries)
}
