package codec

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

func managed(raw string, at time.Time) metav1.ObjectMeta {
	when := metav1.NewTime(at)
	return metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "m", Operation: "Update", Time: &when, FieldsV1: metav1.NewFieldsV1(raw)},
	}}
}

// TestStorable: what is known to be storable, and what is looked at by encoding it.
func TestStorable(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	late := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		what string
		obj  runtime.Object
		want bool
	}{
		{"fields", &corev1.ConfigMap{ObjectMeta: managed(`{"f:data":{}}`, now), Data: map[string]string{"k": "\xff"}}, true},
		{"bytes", &corev1.Secret{ObjectMeta: managed(``, time.Time{}), Data: map[string][]byte{"k": {0}}}, true},
		{"a late time", &corev1.ConfigMap{ObjectMeta: managed(`{}`, late)}, false},
		{"an early time", &corev1.ConfigMap{ObjectMeta: managed(`{}`, time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC))}, false},
		{"no JSON", &corev1.ConfigMap{ObjectMeta: managed(`{x`, now)}, false},
		{"another value", &corev1.ConfigMap{ObjectMeta: managed(`1`, now)}, false},
		{"deep fields", &corev1.ConfigMap{ObjectMeta: managed(
			strings.Repeat(`{"":`, MaxDepth)+"1"+strings.Repeat("}", MaxDepth), now)}, false},
		{"raw bytes", &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte("{}")}}, false},
		{"nothing", (*corev1.ConfigMap)(nil), false},
	} {
		if got := storable(c.obj); got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}

// TestStorableIsStorable: random objects of all kinds that are known to be storable can be encoded and decoded again.
func TestStorableIsStorable(t *testing.T) {
	times := rand.New(rand.NewPCG(1, 2))
	random := randfill.NewWithSeed(1).NilChance(0.3).NumElements(0, 2).MaxDepth(12).Funcs(
		func(t *metav1.Time, _ randfill.Continue) {
			t.Time = time.Unix(times.Int64N(1<<39)-1<<38, 0)
		},
		func(f *metav1.FieldsV1, c randfill.Continue) {
			f.SetRawString([]string{"", "{}", `{"f:a":{}}`, "{", "x", "null", "1"}[c.Intn(7)])
		},
		func(*runtime.RawExtension, randfill.Continue) {},
	)
	known := 0
	for gvk, typ := range resources.Scheme().AllKnownTypes() {
		if _, ok := reflect.New(typ).Interface().(metav1.Object); !ok {
			continue
		}
		for range 20 {
			obj := reflect.New(typ).Interface().(runtime.Object)
			random.Fill(obj)
			if !storable(obj) {
				continue
			}
			known++
			data, err := json.Marshal(obj)
			if err == nil {
				err = json.Unmarshal(data, reflect.New(typ).Interface())
			}
			if err != nil {
				t.Errorf("%s: %v: %s", gvk, err, data)
			}
		}
	}
	if known < 100 {
		t.Errorf("only %d objects are known to be storable", known)
	}
}

func BenchmarkCheckJSON(b *testing.B) {
	obj := &corev1.ConfigMap{
		ObjectMeta: managed(`{"f:data":{".":{},"f:k":{}}}`, time.Now()), Data: map[string]string{"k": "v"}}
	b.ReportAllocs()
	for b.Loop() {
		if err := checkJSON(obj); err != nil {
			b.Fatal(err)
		}
	}
}
