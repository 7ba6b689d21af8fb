package jsonfield_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecascade/kubecascade/internal/jsonfield"
)

// structs calls visit once for each struct type within the kinds of Kubernetes' API.
func structs(visit func(reflect.Type)) {
	seen := map[reflect.Type]bool{}
	var within func(reflect.Type)
	within = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			within(t.Elem())
		case reflect.Struct:
			visit(t)
			for i := range t.NumField() {
				if f := t.Field(i); f.IsExported() {
					within(f.Type)
				}
			}
		}
	}
	for _, t := range clientscheme.Scheme.AllKnownTypes() {
		within(t)
	}
	within(reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]())
}

// filled is a struct with something in each of its own fields and in those of inlined structs, as far as they are
// strings, numbers, booleans, or point to such or to structs.
func filled(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() {
			continue
		}
		set(f, v.Type().Field(i).Anonymous)
	}
}

func set(f reflect.Value, inlined bool) {
	switch f.Kind() {
	case reflect.String:
		f.SetString("x")
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		f.SetInt(1)
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
	case reflect.Map:
		f.Set(reflect.MakeMap(f.Type()))
		f.SetMapIndex(reflect.New(f.Type().Key()).Elem(), reflect.New(f.Type().Elem()).Elem())
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
	case reflect.Struct:
		if inlined {
			filled(f)
		}
	}
}

// TestNames: the fields of every struct of the API are those that encoding/json writes, in its order, and what it
// writes of an empty one is what isn't omitted.
func TestNames(t *testing.T) {
	n := 0
	structs(func(typ reflect.Type) {
		d := jsonfield.Of(typ)
		if d.Marshals || d.Unmarshals {
			return
		}
		full := reflect.New(typ)
		filled(full.Elem())
		if _, err := json.Marshal(full.Interface()); err != nil { // a raw value that is none
			return
		}
		n++
		for _, v := range []reflect.Value{full, reflect.New(typ)} {
			var got []string
			for i := range d.Fields {
				if f := &d.Fields[i]; f.Name != "" && !f.Omits(f.In(v.Elem())) {
					got = append(got, f.Name)
				}
			}
			if want := written(t, v.Interface()); !slices.Equal(got, want) {
				t.Errorf("%v: fields %q, want %q", typ, got, want)
			}
		}
	})
	if n < 500 {
		t.Errorf("%d structs were compared", n)
	}
}

// written are the names of an object's members, in the order of encoding/json.
func written(t *testing.T, v any) (names []string) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var depth int
	d := json.NewDecoder(bytes.NewReader(data))
	for isName := true; ; {
		token, err := d.Token()
		if err != nil {
			return names
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			isName = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
			isName = depth == 1
			continue
		}
		if depth != 1 {
			continue
		}
		if isName {
			names = append(names, token.(string))
		}
		isName = !isName
	}
}

// TestFind looks up fields of inlined structs and of its own, and by names in another case.
func TestFind(t *testing.T) {
	volume := corev1.Volume{Name: "v",
		VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/p"}}}
	d := jsonfield.Of(reflect.TypeFor[corev1.Volume]())
	name, inner := d.Find("name"), d.Find("hostPath")
	if name == nil || inner == nil || !name.Direct() || inner.Direct() || name.Number != 1 {
		t.Fatalf("%+v, %+v", name, inner)
	}
	v := reflect.ValueOf(volume)
	if name.In(v).String() != "v" || inner.In(v).Interface() != volume.HostPath {
		t.Errorf("%v, %v", name.In(v), inner.In(v))
	}
	if d.Find("HOSTPATH") != nil || d.Find("VolumeSource") != nil {
		t.Error("names are compared in another way")
	}
}

// TestOwn: types that write or read themselves are told from others.
func TestOwn(t *testing.T) {
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[metav1.Time](): true, reflect.TypeFor[*metav1.Time](): true,
		reflect.TypeFor[resource.Quantity]():  true,
		reflect.TypeFor[intstr.IntOrString](): true, reflect.TypeFor[appsv1.Deployment](): false,
		reflect.TypeFor[string]():        false,
		reflect.TypeFor[[]metav1.Time](): false, reflect.TypeFor[map[string]string](): false,
	} {
		if d := jsonfield.Of(typ); d.Marshals != want || d.Unmarshals != want {
			t.Errorf("%v: %v, %v", typ, d.Marshals, d.Unmarshals)
		}
	}
}
