package finalizers

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzDelete decides about states that no walk reaches, including those that validation forbids.
func FuzzDelete(f *testing.F) {
	f.Add("default", "orphan", "", int64(1), int64(0), int64(-1), int64(-1), int64(-1), "", uint8(0))
	f.Add("pod", "", "", int64(1), int64(30), int64(30), int64(5), int64(30), "Foreground", uint8(1))
	f.Add("pod", "a/b", "", int64(9), int64(1)<<40, int64(1)<<62, int64(-7), int64(1)<<62, "", uint8(2))
	f.Add(
		"namespace", "orphan,foregroundDeletion", "kubernetes", int64(0), int64(0), int64(0), int64(0), int64(0), "Orphan",
		uint8(7))
	f.Add("crd", "customresourcecleanup.apiextensions.k8s.io", "", int64(2), int64(3), int64(0), int64(0), int64(0),
		"Background", uint8(5))
	f.Fuzz(func(
		t *testing.T, kind, finalizers, specFinalizers string, generation, deletion, grace, asked, byDefault int64,
		policy string, bits uint8,
	) {
		k, ok := kinds[kind]
		if !ok || generation < 0 || generation > 1<<62 {
			t.Skip()
		}
		set := func(bit uint8) bool { return bits&(1<<bit) != 0 }
		optional := func(n int64, bit uint8) *int64 {
			if set(bit) {
				return &n
			}
			return nil
		}
		k.DefaultGraceSeconds = optional(byDefault, 0)
		k.GraceForbidden = set(1)
		obj := Object{UID: "A", ResourceVersion: "1", Generation: generation, GracePeriodSeconds: optional(grace, 2)}
		if set(3) {
			obj.Deletion = epoch.Add(time.Duration(deletion%(1<<31)) * time.Second)
		}
		obj.Finalizers, obj.SpecFinalizers = split(finalizers), split(specFinalizers)
		o := Options{PropagationPolicy: policy, GracePeriodSeconds: optional(asked, 4)}
		if set(5) {
			b := set(6)
			o.OrphanDependents = &b
		}

		before := obj
		before.Finalizers = slices.Clone(obj.Finalizers)
		v := Delete(obj, k, o, epoch)
		if !reflect.DeepEqual(before, obj) {
			t.Errorf("%+v became %+v", before, obj)
		}
		if err := check(obj, k, v, epoch); err != nil {
			t.Errorf("%+v %+v %+v: %v", obj, k, o, err)
		}
		if err := checkRepeat(obj, k, o, v, epoch); err != nil {
			t.Errorf("%+v %+v %+v: %v", obj, k, o, err)
		}
	})
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}
