package fieldmanager

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestTwinOwned is TestTwin for writes many of which change no set of fields: those are found, and enough of them.
func TestTwinOwned(t *testing.T) {
	straight := straightConverters(t)
	m := New(Config{Types: table})
	from := int64(seed.Of(t))
	found, all := 0, 0
	for i, res := range written() {
		for _, sub := range endpointsOf(res) {
			t.Run(res.GroupResource().String()+"/"+sub, func(t *testing.T) {
				p := plain{res}
				reference, err := managedfields.NewDefaultFieldManager(straight(res.GroupVersion()), p, p, p,
					res.GroupVersionKind(),
					schema.GroupVersion{
						Group: res.Group, Version: runtime.APIVersionInternal,
					}, sub, resets(res, sub, []*resources.Resource{res}))
				if err != nil {
					t.Fatal(err)
				}
				w := &world{
					t: t, m: m, res: res, sub: sub, reference: reference, fill: filler(from + int64(i)),
					random: rand.New(rand.NewSource(from + int64(i))),
				}
				live := w.write(0, nil, random(t, w.fill, res))
				for step := 1; step < 7 && len(live.GetManagedFields()) > 0; step++ {
					live.SetUID("uid")
					next := w.edited(live)
					if w.owned(live, next) {
						found++
					}
					all++
					live = w.write(step, live, next)
				}
			})
		}
	}
	if found < all/5 {
		t.Errorf("only %d of %d writes changed no set of fields", found, all)
	}
}

// edited returns a copy of an object after some edits, as it would be decoded.
func (w *world) edited(obj object) object {
	next := obj.DeepCopyObject().(object)
	for range 1 + w.random.Intn(3) {
		var edits []func()
		editsOf(w.random, reflect.ValueOf(next).Elem(), &edits)
		edits[w.random.Intn(len(edits))]()
	}
	data, err := json.Marshal(next)
	if err != nil {
		w.t.Fatal(err)
	}
	out := w.res.New().(object)
	if err := json.Unmarshal(data, out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// owned reports whether a write would be found to change no set of fields.
func (w *world) owned(live, next object) bool {
	e, err := w.m.endpoint(w.res, w.sub)
	if err != nil || e.owned == nil {
		return false
	}
	a, b, _ := e.pruner().prune(bare(live), bare(next))
	_, ok := e.owned().entries(a, b, live.GetManagedFields(), "m0", w.sub)
	return ok
}

// editsOf lists what may be done to a value.
func editsOf(random *rand.Rand, v reflect.Value, all *[]func()) {
	add := func(f func()) { *all = append(*all, f) }
	switch x := v.Addr().Interface().(type) {
	case *metav1.Time:
		add(func() { x.Time = time.Unix(int64(random.Intn(1e9)), 0) })
		add(func() { x.Time = time.Time{} })
		return
	case *metav1.MicroTime:
		add(func() { x.Time = time.Unix(int64(random.Intn(1e9)), 0) })
		return
	case *resource.Quantity:
		add(func() { *x = resource.MustParse(fmt.Sprint(random.Intn(5), "000m")) })
		return
	case *metav1.TypeMeta, *[]metav1.ManagedFieldsEntry, *metav1.FieldsV1, *runtime.RawExtension, *intstr.IntOrString,
		*apiextensionsv1.JSON:
		return
	}
	switch v.Kind() {
	case reflect.String:
		add(func() { v.SetString(v.String() + "x") })
		add(func() { v.SetString(v.String() + "y") })
		if random.Intn(4) == 0 {
			add(func() { v.SetString("") })
			add(func() { v.SetString("<é\"") })
		}
	case reflect.Bool:
		add(func() { v.SetBool(!v.Bool()) })
	case reflect.Int32, reflect.Int64:
		add(func() { v.SetInt(int64(random.Intn(3))) })
		add(func() { v.SetInt(v.Int()%1000 + 1) })
	case reflect.Pointer:
		if v.IsNil() {
			if random.Intn(8) == 0 {
				add(func() { v.Set(reflect.New(v.Type().Elem())) })
			}
			return
		}
		if random.Intn(8) == 0 {
			add(func() { v.SetZero() })
		}
		editsOf(random, v.Elem(), all)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				editsOf(random, v.Field(i), all)
			}
		}
	case reflect.Slice:
		editList(random, v, all)
	case reflect.Map:
		editMap(random, v, all)
	}
}

func editList(random *rand.Rand, v reflect.Value, all *[]func()) {
	add := func(f func()) { *all = append(*all, f) }
	if v.Type().Elem().Kind() == reflect.Uint8 {
		add(func() { v.SetBytes([]byte{byte(random.Intn(256))}) })
		return
	}
	if random.Intn(4) == 0 {
		add(func() { v.SetZero() })
		add(func() { v.Set(reflect.MakeSlice(v.Type(), 0, 0)) })
		add(func() { v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem())) })
		if v.Len() > 0 {
			add(func() { v.Set(reflect.AppendSlice(v, v.Slice(0, 1))) })
			add(func() { v.Set(v.Slice(0, v.Len()-1)) })
		}
		if v.Len() > 1 {
			add(func() { reflect.Swapper(v.Interface())(0, v.Len()-1) })
		}
	}
	for i := range v.Len() {
		editsOf(random, v.Index(i), all)
	}
}

func editMap(random *rand.Rand, v reflect.Value, all *[]func()) {
	add := func(f func()) { *all = append(*all, f) }
	if random.Intn(4) == 0 {
		add(func() { v.SetZero() })
		add(func() { v.Set(reflect.MakeMap(v.Type())) })
	}
	keys := v.MapKeys()
	for _, k := range keys {
		c := reflect.New(v.Type().Elem()).Elem()
		c.Set(v.MapIndex(k))
		var inner []func()
		editsOf(random, c, &inner)
		for _, f := range inner {
			add(func() {
				f()
				if !v.IsNil() {
					v.SetMapIndex(k, c)
				}
			})
		}
		if random.Intn(4) == 0 {
			add(func() { v.SetMapIndex(k, reflect.Value{}) })
		}
	}
}
