package validation

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/defaults/defaultstest"
)

const (
	// many is how many items a list gets.
	many = 2400
	// mostErrors is how many errors a func may find. Some updates validate an object twice, and so may lists of lists.
	mostErrors = 4 * invalid.MaxErrors
	// mostBytes is how much a func may allocate. What is valid is copied, compared and printed besides.
	mostBytes = 20 << 20
)

// TestErrorsAreBounded: whichever list or map of an object is long and wrong, the errors are bounded while they are
// collected.
func TestErrorsAreBounded(t *testing.T) {
	for _, table := range []map[schema.GroupKind]Kind{kinds, workloads} {
		for gk, kind := range table {
			if gk.Kind == "CustomResourceDefinition" {
				continue
			}
			t.Run(gk.String(), func(t *testing.T) {
				empty := defaultstest.New(t, versionOf(gk))
				eachLong(empty, gk.Kind == "Pod", func(path string, obj apiruntime.Object) {
					for name, f := range funcsOf(kind) {
						bounded(t, path+" "+name, func() field.ErrorList { return f(obj, empty) })
						if name != "create" {
							bounded(t, path+" "+name+" of the same", func() field.ErrorList { return f(obj, obj) })
						}
					}
				})
			})
		}
	}
}

// funcsOf returns all funcs of a kind by their names.
func funcsOf(k Kind) map[string]func(obj, old apiruntime.Object) field.ErrorList {
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
func bounded(t *testing.T, what string, find func() field.ErrorList) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	errs := find()
	runtime.ReadMemStats(&after)
	if len(errs) > mostErrors {
		t.Errorf("%s: %d errors", what, len(errs))
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > mostBytes {
		t.Errorf("%s: %d MiB allocated for %d errors", what, bytes>>20, len(errs))
	}
}

// eachLong visits the object once for each list and map in it, which then has many zero items or wrong keys, with all
// that it is in. What pods are made of is only visited if asked for, metadata never.
func eachLong(empty apiruntime.Object, pods bool, visit func(path string, obj apiruntime.Object)) {
	obj := empty.DeepCopyObject()
	skip := map[reflect.Type]bool{
		reflect.TypeFor[metav1.ObjectMeta](): true, reflect.TypeFor[corev1.PodSpec](): !pods,
		reflect.TypeFor[apiruntime.RawExtension](): true,
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
		walk(v.Field(i), v.Type().Field(i).Name, nil)
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
