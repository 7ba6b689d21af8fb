package fieldmanager

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/randfill"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestTwinEdits is TestTwin for writes that leave nearly all as it was, which is what is pruned: a few edits in a row
// at places somewhere in the object, by many managers.
func TestTwinEdits(t *testing.T) {
	from := int64(seed.Of(t))
	straight := straightConverters(t)
	m := New(Config{Types: table})
	for i, res := range written() {
		if res.ToStored != nil || res.FromStored != nil { // not pruned, and the reference knows nothing of the stored version
			continue
		}
		p, hub, subs := copying{
			plain{res},
		}, schema.GroupVersion{Group: res.Group, Version: runtime.APIVersionInternal}, endpointsOf(res)
		worlds := make([]*world, len(subs))
		random := rand.New(rand.NewSource(from + int64(i)))
		for i, sub := range subs {
			reference, err := managedfields.NewDefaultFieldManager(straight(res.GroupVersion()), p, p, p, res.GroupVersionKind(),
				hub, sub,
				resets(res, sub, []*resources.Resource{res}))
			if err != nil {
				t.Fatal(err)
			}
			worlds[i] = &world{m: m, res: res, sub: sub, reference: reference, fill: filler(random.Int63()), random: random}
		}
		t.Run(res.GroupResource().String()+"/"+res.Version, func(t *testing.T) { edited(t, worlds, random) })
	}
}

// copying is plain, but that nil and empty stay apart, which a field manager sees within what is compared as a whole.
type copying struct{ plain }

func (c copying) ConvertToVersion(obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gvk, gv := c.res.GroupVersionKind(), target.(schema.GroupVersion)
	if reflect.TypeOf(obj) != reflect.TypeOf(c.res.New()) ||
		gv.Version != runtime.APIVersionInternal && gv != gvk.GroupVersion() {
		return c.plain.ConvertToVersion(obj, target)
	}
	out := obj.DeepCopyObject()
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return out, nil
}

// edited writes one object by way of all its endpoints.
func edited(t *testing.T, worlds []*world, random *rand.Rand) {
	w := worlds[0]
	w.t = t
	live := w.write(0, nil, randomOf(t, w))
	for step := range 8 {
		live.SetUID(types.UID("uid"))
		w := worlds[random.Intn(len(worlds))]
		w.t = t
		e := editor{w.fill, random}
		next := live.DeepCopyObject().(object)
		for range 1 + random.Intn(3) {
			e.edit(reflect.ValueOf(next).Elem(), 0)
		}
		next.GetObjectKind().SetGroupVersionKind(w.res.GroupVersionKind())
		if random.Intn(8) == 0 {
			next.SetManagedFields(w.entries(live))
		}
		if random.Intn(5) == 0 {
			live = w.apply(step, live, next)
		} else {
			live = w.write(step, live, next)
		}
	}
}

func randomOf(t *testing.T, w *world) object { return random(t, w.fill, w.res) }

// editor changes one thing in a Go value.
type editor struct {
	fill   *randfill.Filler
	random *rand.Rand
}

var marshaler = reflect.TypeFor[json.Marshaler]()

func (e editor) edit(v reflect.Value, depth int) {
	if reflect.PointerTo(v.Type()).Implements(marshaler) || depth > 12 {
		e.refill(v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		e.editStruct(v, depth)
	case reflect.Pointer:
		e.editPointer(v, depth)
	case reflect.Slice:
		e.editSlice(v, depth)
	case reflect.Map:
		e.editMap(v)
	default:
		e.refill(v)
	}
}

func (e editor) refill(v reflect.Value) {
	if e.random.Intn(4) == 0 {
		v.SetZero()
		return
	}
	e.fill.Fill(v.Addr().Interface())
}

func (e editor) editStruct(v reflect.Value, depth int) {
	if v.NumField() == 0 {
		return
	}
	for range 20 { // most fields are empty
		i := e.random.Intn(v.NumField())
		f := v.Field(i)
		switch {
		case !f.CanSet(), f.Type() == reflect.TypeFor[metav1.TypeMeta](),
			f.Type() == reflect.TypeFor[[]metav1.ManagedFieldsEntry]():
		case f.IsZero() && e.random.Intn(4) > 0:
		default:
			e.edit(f, depth+1)
			return
		}
	}
}

func (e editor) editPointer(v reflect.Value, depth int) {
	own := v.Type().Implements(marshaler) // decoding never leaves a pointer to a time that is none
	switch n := e.random.Intn(6); {
	case v.IsNil() && n < 2 || own && n > 0:
		e.fill.Fill(v.Addr().Interface())
	case !own && (v.IsNil() || n == 0):
		v.Set(reflect.New(v.Type().Elem()))
	case own, n == 1:
		v.SetZero()
	default:
		e.edit(v.Elem(), depth+1)
	}
}

func (e editor) editSlice(v reflect.Value, depth int) {
	element := reflect.New(v.Type().Elem()).Elem()
	switch n := e.random.Intn(8); {
	case n == 0:
		v.SetZero()
	case n == 1:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	case n == 2 || v.Len() == 0:
		e.fill.Fill(element.Addr().Interface())
		v.Set(reflect.Append(v, element))
	case n == 3:
		v.Set(reflect.AppendSlice(v.Slice(0, 0), v.Slice(1, v.Len())))
	case n == 4:
		v.Set(reflect.AppendSlice(v.Slice(v.Len()-1, v.Len()), v.Slice(0, v.Len()-1)))
	default:
		e.edit(v.Index(e.random.Intn(v.Len())), depth+1)
	}
}

func (e editor) editMap(v reflect.Value) {
	switch n := e.random.Intn(8); {
	case n == 0:
		v.SetZero()
	case n == 1:
		v.Set(reflect.MakeMap(v.Type()))
	default:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.SetString(string(rune('a' + e.random.Intn(4))))
		if n < 4 {
			v.SetMapIndex(key, reflect.Value{})
			return
		}
		e.fill.Fill(element.Addr().Interface())
		v.SetMapIndex(key, element)
	}
}
