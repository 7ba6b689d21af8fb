package validation

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/kindtest"
	"github.com/kubecascade/kubecascade/apiserver/resources/objecttest"
)

const (
	// many is how many items a list gets.
	many = 2400
	// mostErrors is how many errors a func may find. Some updates validate an object twice, and so may lists of lists.
	mostErrors = 4 * invalid.MaxErrors
	// mostBytes is how much a func may allocate. What is valid is copied, compared and printed besides.
	mostBytes = slack * 20 << 20
)

// TestErrorsAreBounded: whichever list or map of an object is long and wrong, the errors are bounded while they are
// collected.
func TestErrorsAreBounded(t *testing.T) {
	for _, kind := range kinds {
		if kind.GVK.Kind == "CustomResourceDefinition" {
			continue // TestDefinitionErrorsAreBounded
		}
		t.Run(kind.GVK.String(), func(t *testing.T) {
			empty := objecttest.New(t, kind.GVK)
			eachLong(empty, kind.GVK.Kind == "Pod", func(path string, obj apiruntime.Object) {
				for name, f := range funcsOf(kind.Validation) {
					if kind.Validation.Parts[name] != nil && strings.Contains(path, "[") {
						continue // what is inside is validated by the same functions as in an update
					}
					bounded(t, path+" "+name, mostBytes, func() field.ErrorList { return f(obj, empty) })
					if name != "create" {
						bounded(t, path+" "+name+" of the same", mostBytes, func() field.ErrorList { return f(obj, obj) })
					}
				}
			})
		})
	}
}

// funcsOf returns all funcs of a kind by their names.
func funcsOf(k kindtest.Validation) map[string]func(obj, old apiruntime.Object) field.ErrorList {
	all := maps.Clone(k.Parts)
	if all == nil {
		all = map[string]func(obj, old apiruntime.Object) field.ErrorList{}
	}
	if create := k.Create; create != nil {
		all["create"] = func(obj, _ apiruntime.Object) field.ErrorList { return create(obj) }
	}
	if k.Update != nil {
		all["update"] = k.Update
	}
	if k.Status != nil {
		all["status"] = k.Status
	}
	return all
}

// bounded fails for too many errors or bytes.
func bounded(t *testing.T, what string, most uint64, find func() field.ErrorList) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	errs := find()
	runtime.ReadMemStats(&after)
	if len(errs) > mostErrors {
		t.Errorf("%s: %d errors", what, len(errs))
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > most {
		t.Errorf("%s: %d MiB allocated for %d errors", what, bytes>>20, len(errs))
	}
}

// eachLong visits the object once for each list and map in it, which then has many zero items or wrong keys, with all
// that it is in. What pods are made of is only visited if asked for, the object's own metadata never.
func eachLong(empty apiruntime.Object, pods bool, visit func(path string, obj apiruntime.Object)) {
	obj := empty.DeepCopyObject()
	skip := map[reflect.Type]bool{
		reflect.TypeFor[corev1.PodSpec](): !pods, reflect.TypeFor[apiruntime.RawExtension](): true,
	}
	var walk func(v reflect.Value, path string, in []reflect.Type)
	walk = func(v reflect.Value, path string, in []reflect.Type) {
		if skip[v.Type()] || slices.Contains(in, v.Type()) {
			return
		}
		in = append(slices.Clip(in), v.Type())
		defer v.SetZero()
		switch v.Kind() {
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			walk(v.Elem(), path, in)
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i), path+"."+v.Type().Field(i).Name, in)
				}
			}
		case reflect.Map:
			visitMap(v, func() { visit(path, obj) })
		case reflect.Slice:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				return
			}
			v.Set(reflect.MakeSlice(v.Type(), many, many))
			visit(path, obj)
			v.Set(v.Slice3(0, 1, 1))
			walk(v.Index(0), path+"[0]", in)
			nested(v, func() { visit(path+"[][]", obj) })
		}
	}
	v := reflect.ValueOf(obj).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Type != reflect.TypeFor[metav1.ObjectMeta]() {
			walk(v.Field(i), v.Type().Field(i).Name, nil)
		}
	}
}

// visitMap gives a map many keys that no map may have.
func visitMap(v reflect.Value, visit func()) {
	v.Set(reflect.MakeMap(v.Type()))
	for i := range many {
		key := reflect.New(v.Type().Key()).Elem()
		key.SetString(fmt.Sprintf("!%d", i))
		v.SetMapIndex(key, reflect.New(v.Type().Elem()).Elem())
	}
	visit()
}

// nested visits a list of many items that all have the same few in each list of theirs.
func nested(v reflect.Value, visit func()) {
	if v.Type().Elem().Kind() != reflect.Struct {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), many/10, many/10))
	for i := range many / 10 {
		item := v.Index(i)
		for j := range item.NumField() {
			if f := item.Field(j); f.Kind() == reflect.Slice && f.CanSet() && f.Type().Elem().Kind() != reflect.Uint8 {
				f.Set(reflect.MakeSlice(f.Type(), 20, 20))
			}
		}
	}
	visit()
}

// TestDefinitionErrorsAreBounded is TestErrorsAreBounded for definitions, whose schemas are no lists.
func TestDefinitionErrorsAreBounded(t *testing.T) {
	empty := &apiextensionsv1.CustomResourceDefinition{}
	name := func(int) string { return "!" }
	for what, change := range map[string]func(*apiextensionsv1.CustomResourceDefinition){
		"versions": func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions = make([]apiextensionsv1.CustomResourceDefinitionVersion, 20*many)
		},
		"short names": func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Names.ShortNames = objecttest.ListOf(20*many, name)
		},
		"categories": func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Names.Categories = objecttest.ListOf(20*many, name)
		},
		"accepted": func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Status.AcceptedNames.ShortNames = objecttest.ListOf(20*many, name)
		},
		"finalizers": func(d *apiextensionsv1.CustomResourceDefinition) { d.Finalizers = objecttest.ListOf(20*many, name) },
		"columns": func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Storage: true, Served: true,
				AdditionalPrinterColumns: make([]apiextensionsv1.CustomResourceColumnDefinition, 20*many),
				SelectableFields:         make([]apiextensionsv1.SelectableField, 20*many)}}
		},
		"review versions": func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{ConversionReviewVersions: objecttest.ListOf(20*many, name)}}
		},
	} {
		d := &apiextensionsv1.CustomResourceDefinition{}
		change(d)
		for f, find := range funcsOf(
			validationOf(schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}),
		) {
			find(empty, empty) // makes what is made once
			bounded(t, what+" "+f, 3*mostBytes, func() field.ErrorList { return find(d, empty) })
		}
	}
}
