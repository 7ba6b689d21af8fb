package weight_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/weight"
)

// place is somewhere in a kind that a document may have many elements at.
type place struct {
	// before and after stand around the elements, of which a map's have names.
	before, after string
	named         bool
	// elem is what one of them is written as, size what a list's takes at least.
	elem string
	size uintptr
}

// places are the lists and maps of a type, each type of element once, the largest elements first.
func places(t reflect.Type) (found []place) {
	seen := map[reflect.Type]bool{}
	var visit func(t reflect.Type, before, after string)
	visit = func(t reflect.Type, before, after string) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Slice, reflect.Map:
			if t.Elem().Kind() == reflect.Uint8 || t.Elem().Kind() == reflect.Interface {
				return
			}
			p := place{before: before + "[", after: "]" + after, elem: "{}", size: t.Elem().Size()}
			if t.Kind() == reflect.Map {
				p = place{before: before + "{", after: "}" + after, elem: "{}", named: true, size: t.Elem().Size() + t.Key().Size()}
			}
			switch e := t.Elem(); {
			case e.Kind() == reflect.String || e.Name() == "Quantity":
				p.elem = `""`
				if e.Name() == "Quantity" {
					p.elem = `"1"`
				}
			case e.Kind() == reflect.Slice:
				p.elem = "[]"
			case e.Kind() == reflect.Pointer:
				p.size += e.Elem().Size()
			case e.Kind() != reflect.Struct:
				p.elem = "0"
			}
			found = append(found, p)
			if t.Kind() == reflect.Map {
				visit(t.Elem(), p.before+`"x":`, p.after)
			} else {
				visit(t.Elem(), p.before, p.after)
			}
		case reflect.Struct:
			for i := range t.NumField() {
				f := t.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				switch {
				case name == "-" || !f.IsExported():
				case f.Anonymous && name == "":
					visit(f.Type, before, after)
				case name != "":
					visit(f.Type, before+`{"`+name+`":`, "}"+after)
				}
			}
		}
	}
	visit(t, "", "")
	slices.SortStableFunc(found, func(a, b place) int { return int(b.size) - int(a.size) })
	return found
}

// document has n elements.
func (p place) document(n int) []byte {
	var b strings.Builder
	b.WriteString(p.before)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if p.named {
			fmt.Fprintf(&b, `"%d":`, i)
		}
		b.WriteString(p.elem)
	}
	b.WriteString(p.after)
	return []byte(b.String())
}

// live is the memory of what make returns.
func live(make func() any) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// kinds are the Go types of all built-in kinds.
func kinds(t *testing.T) map[schema.GroupVersionKind]reflect.Type {
	t.Helper()
	out := map[schema.GroupVersionKind]reflect.Type{}
	for _, r := range resources.Every(nil) {
		if obj, err := resources.Scheme().New(r.GroupVersionKind()); err == nil {
			out[r.GroupVersionKind()] = reflect.TypeOf(obj).Elem()
		}
	}
	if len(out) < 50 {
		t.Fatalf("%d kinds", len(out))
	}
	return out
}

// TestElements decodes documents of the four largest elements of every kind, and compares the objects' memory with the
// estimate of their elements. What is estimated besides, for values and bytes, is not there yet.
func TestElements(t *testing.T) {
	const n = 3000
	for gvk, typ := range kinds(t) {
		shape, all := weight.Of(typ), places(typ)
		all = all[:min(len(all), 4)]
		var walked, counted int64
		var documents [][]byte
		for _, p := range all {
			data := p.document(n)
			documents = append(documents, data)
			for sum, size := range map[*int64]weight.Size{&walked: shape.JSON(data), &counted: shape.Anywhere(data)} {
				*sum += size.Elements*5/4 + size.Values*16 + size.Bytes // a list may have a quarter more room than elements
			}
		}
		got := live(func() any {
			var objects []any
			for _, data := range documents {
				v := reflect.New(typ).Interface()
				_ = kjson.UnmarshalCaseSensitivePreserveInts(data, v) // it says what isn't well-formed inside of elements
				objects = append(objects, v)
			}
			return objects
		})
		if got > walked+64<<10 || got > counted+64<<10 {
			t.Errorf("%v: %d bytes, by a walk %d, by a count %d; in %v", gvk, got, walked, counted, all)
		}
		if got < int64(n*len(all)) {
			t.Errorf("%v: %d elements take %d bytes only: they were not decoded", gvk, n*len(all), got)
		}
	}
}

// TestMismatch: elements of the wrong kind take room as well, before the decoder reports the error.
func TestMismatch(t *testing.T) {
	data := []byte(`{"spec":{"containers":[0` + strings.Repeat(",0", 20000) + `]}}`)
	got := live(func() any {
		v := &corev1.Pod{}
		_ = kjson.UnmarshalCaseSensitivePreserveInts(data, v) // it says that numbers are no containers
		return v
	})
	if size := weight.Of(reflect.TypeFor[corev1.Pod]()).JSON(data); got < 1<<20 || size.Elements*5/4 < got {
		t.Errorf("%d bytes, estimated %d", got, size.Elements)
	}
}

// TestTree compares unstructured objects.
func TestTree(t *testing.T) {
	for _, elem := range []string{"{}", "0", `""`, "[]", "[0]", `{"a":""}`, `{"":{}}`, `{"a":0,"b":0}`, "[[[]]]"} {
		data := place{before: `{"spec":[`, after: "]}", elem: elem}.document(20000)
		got := live(func() any {
			m := map[string]any{}
			if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &m); err != nil {
				t.Fatal(err)
			}
			return m
		})
		if want := weight.Tree.JSON(data).Decoded() + 64<<10; got > want {
			t.Errorf("%s: %d bytes, estimated %d", elem, got, want)
		}
	}
}

// pod has so many containers, of the usual kind.
func pod(containers int) []byte {
	var b strings.Builder
	b.WriteString(
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-5f6c9d7b4-abcde","namespace":"default","labels":{"app":"web","pod-template-hash":"5f6c9d7b4"}},"spec":{"containers":[`,
	)
	for i := range containers {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(
			&b,
			`{"name":"c%d","image":"registry.example.com/team/web:1.2.3","args":["--listen=:8080","--verbose"],"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[{"name":"HOST","valueFrom":{"fieldRef":{"fieldPath":"status.hostIP"}}},{"name":"MODE","value":"fast"}],"resources":{"limits":{"cpu":"500m","memory":"128Mi"},"requests":{"cpu":"100m","memory":"64Mi"}},"volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"config","mountPath":"/etc/web"}],"livenessProbe":{"httpGet":{"path":"/healthz","port":8080},"periodSeconds":10},"securityContext":{"runAsNonRoot":true,"capabilities":{"drop":["ALL"]}}}`,
			i,
		)
	}
	b.WriteString(`],"volumes":[{"name":"data","emptyDir":{}},{"name":"config","configMap":{"name":"web"}}]}}`)
	return []byte(b.String())
}

// TestOrdinary: usual objects are far from a MiB, in every format.
func TestOrdinary(t *testing.T) {
	shape := weight.Of(reflect.TypeFor[corev1.Pod]())
	kind := &weight.Kind{Type: reflect.TypeFor[corev1.Pod](), APIVersion: "v1", Name: "Pod", Worst: 1500}
	for containers, most := range map[int]int64{1: 512 << 10, 2: 512 << 10, 12: 768 << 10} {
		data := pod(containers)
		obj := &corev1.Pod{}
		if err := json.Unmarshal(data, obj); err != nil {
			t.Fatal(err)
		}
		binary, err := obj.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		text, err := yaml.JSONToYAML(data)
		if err != nil {
			t.Fatal(err)
		}
		jsonInYAML, exact := kind.YAML(data)
		if !exact {
			t.Errorf("JSON is no YAML")
		}
		for format, size := range map[string]weight.Size{"JSON": kind.JSON(data), "tree": weight.Tree.JSON(data),
			"protobuf": shape.Protobuf(binary),
			"YAML":     jsonInYAML} {
			t.Logf("%d bytes of %s: %d KiB, decoded only %d KiB", size.Bytes, format, size.Write()>>10, size.Decoded()>>10)
			if got := size.Write(); got > most && format != "YAML" || got > 2*most {
				t.Errorf("%d bytes of %s: %d", size.Bytes, format, got)
			}
		}
		size, _ := kind.YAML(text)
		t.Logf("%d bytes of YAML: %d KiB", size.Bytes, size.Write()>>10)
	}
}

// TestProtobuf compares objects from protobuf with the estimate: empty messages take two bytes.
func TestProtobuf(t *testing.T) {
	for _, obj := range []interface {
		Marshal() ([]byte, error)
		Unmarshal([]byte) error
	}{
		&corev1.Pod{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 20000)}},
		&corev1.Pod{Spec: corev1.PodSpec{Volumes: make([]corev1.Volume, 20000)}},
		&corev1.Service{Spec: corev1.ServiceSpec{ExternalIPs: make([]string, 20000)}},
		&corev1.Endpoints{Subsets: make([]corev1.EndpointSubset, 20000)},
	} {
		data, err := obj.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		typ := reflect.TypeOf(obj).Elem()
		got := live(func() any {
			v := reflect.New(typ).Interface().(interface{ Unmarshal([]byte) error })
			if err := v.Unmarshal(data); err != nil {
				t.Fatal(err)
			}
			return v
		})
		if size := weight.Of(typ).Protobuf(data); got > size.Elements*5/4+size.Bytes {
			t.Errorf("%v: %d bytes, estimated %d", typ, got, size.Elements)
		}
	}
}

// TestAliased: documents that may have aliases are told from others.
func TestAliased(t *testing.T) {
	for text, want := range map[string]bool{
		"a: &a [x]\nb: [*a]": true, "- &a x\n- *a": true, "{a: &a x,b: *a}": true,
		"schedule: '* * * * *'\nrun: a && b": false,
		"glob: \"*.txt\"\ntext: R&D":         false, "a: b": false, "a: &a b": false,
	} {
		if weight.Aliased([]byte(text)) != want {
			t.Errorf("%q", text)
		}
	}
}

// TestAllocations: an estimate allocates nothing.
func TestAllocations(t *testing.T) {
	data := pod(50)
	kind := &weight.Kind{Type: reflect.TypeFor[corev1.Pod]()}
	if n := testing.AllocsPerRun(10, func() { kind.JSON(data); kind.YAML(data); kind.Protobuf(data) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestBroken: what isn't JSON is charged by what it could be.
func TestBroken(t *testing.T) {
	shape := weight.Of(reflect.TypeFor[corev1.Pod]())
	if size := shape.JSON([]byte(strings.Repeat("[", 100000))); size.Values > 20000 {
		t.Errorf("what is too deep for any decoder is %v", size)
	}
	for _, text := range []string{
		strings.Repeat("{", 100000), `{"a":` + strings.Repeat(`,{}`, 50000), strings.Repeat(`{} `, 20000),
	} {
		if got, want := shape.JSON([]byte(text)), shape.Anywhere([]byte(text)); got != want {
			t.Errorf("%.10s: %v, want %v", text, got, want)
		}
	}
}

// TestOtherKind: a document is charged as what it says it is.
func TestOtherKind(t *testing.T) {
	k := &weight.Kind{Type: reflect.TypeFor[corev1.ConfigMap](), APIVersion: "v1", Name: "ConfigMap", Worst: 1500}
	list := `"spec":{"containers":[{}` + strings.Repeat(",{}", 2000) + "]}"
	for _, head := range []string{`"kind":"ConfigMap","apiVersion":"v1",`, `"kind":"",`, ``} {
		if got := k.JSON([]byte("{" + head + list + "}")).Elements; got != 0 { // it has no such field
			t.Errorf("%s: %d bytes", head, got)
		}
	}
	for _, head := range []string{
		`"kind":"Pod","apiVersion":"v1",`, `"KIND" : "Pod",`, `"k\u0069nd":"Pod",`, `"kind":"ConfigMap","apiVersion":"x/v1",`,
		`"kind":"ConfigMap","kind":"Pod",`, `"` + "\u212a" + `ind":"Pod",`,
	} {
		for _, data := range []string{"{" + head + list + "}", "{" + list + "," + head + `"x":0}`} {
			if got := k.JSON([]byte(data)).Elements; got < 2000*1500 {
				t.Errorf("%s: %d bytes", head, got)
			}
			if got, _ := k.YAML([]byte(data)); got.Elements < 2000*1500 {
				t.Errorf("%s in YAML: %d bytes", head, got.Elements)
			}
		}
	}
	raw, err := (&corev1.Pod{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 2000)}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]bool{"ConfigMap": false, "Pod": true} {
		data, err := (&kruntime.Unknown{TypeMeta: kruntime.TypeMeta{APIVersion: "v1", Kind: name}, Raw: raw}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if got := k.Protobuf(data).Elements; (got > 2000*1500) != other {
			t.Errorf("%s in protobuf: %d bytes", name, got)
		}
	}
}

// TestEscapedNames: a field whose name is written with escapes is decoded as any other, and counts as much.
func TestEscapedNames(t *testing.T) {
	shape := weight.Of(reflect.TypeFor[corev1.Pod]())
	items := `":[{}` + strings.Repeat(",{}", 5000) + "]}}"
	plain, escaped := []byte(`{"spec":{"containers`+items), []byte(`{"sp\u0065c":{"\u0063ontainers`+items)
	var pod corev1.Pod
	if err := kjson.UnmarshalCaseSensitivePreserveInts(escaped, &pod); err != nil || len(pod.Spec.Containers) != 5001 {
		t.Fatalf("%d containers: %v", len(pod.Spec.Containers), err)
	}
	if got, want := shape.JSON(escaped).Elements, shape.JSON(plain).Elements; got != want || want == 0 {
		t.Errorf("%d bytes of elements, want %d", got, want)
	}
}

// TestPatch: what operations copy counts, up to the bytes that they may copy, and so does that they may make of the
// object one of another kind.
func TestPatch(t *testing.T) {
	k := &weight.Kind{Type: reflect.TypeFor[corev1.ConfigMap](), Worst: 1500}
	stored := weight.Size{Values: 100, Bytes: 1000}
	few := k.Patch([]byte(`[{"op":"remove","path":"/data/a"}]`), stored, 0, 1<<20)
	copies := k.Patch([]byte(`[{"op":"remove","path":"/data/a"}]`), stored, 10, 1<<20)
	many := k.Patch([]byte(`[{"op":"remove","path":"/data/a"}]`), stored, 1e6, 1<<20)
	kind := k.Patch([]byte(`[{"op":"remove","path":"/Kind"}]`), stored, 0, 1<<20)
	if few.Values > 10 || copies.Values < 1000 || many.Values < 1<<19 || many.Values > 1<<20 ||
		kind.Elements < few.Elements*3 {
		t.Errorf("%+v %+v %+v %+v", few, copies, many, kind)
	}
}

func BenchmarkJSON(b *testing.B) {
	shape := &weight.Kind{Type: reflect.TypeFor[corev1.Pod](), Worst: 1500}
	for _, n := range []int{1, 12, 1000} {
		data := pod(n)
		b.Run(fmt.Sprint(len(data)), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				shape.JSON(data)
			}
		})
	}
}
