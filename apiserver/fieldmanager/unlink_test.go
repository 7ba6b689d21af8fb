package fieldmanager

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestUnlink: of writes that only take owners and finalizers away, Unlink knows what Update finds out.
func TestUnlink(t *testing.T) {
	m, res := New(Config{Types: table}), table.Kind(corev1.SchemeGroupVersion.WithKind("Pod"))
	r := rand.New(rand.NewSource(1))
	emptied, dropped := 0, 0
	for round := range 300 {
		live := pod(t)
		live.UID = "u"
		live.OwnerReferences = nil
		m.Update(res, "", nil, live, "creator")
		for step := range 1 + r.Intn(4) {
			next := live.DeepCopy()
			if r.Intn(2) == 0 {
				next.Labels = map[string]string{"app": fmt.Sprint(r.Intn(3))}
			}
			next.OwnerReferences, next.Finalizers = randomOwners(r), randomFinalizers(r)
			sub, manager := "", fmt.Sprint("m", step)
			if r.Intn(4) == 0 {
				sub = "status"
			}
			live = m.Update(res, sub, live, next, manager).(*corev1.Pod)
		}
		for range 3 { // the same fields, of which other links are gone
			next, gone := live.DeepCopy(), Links{}
			next.OwnerReferences = slices.DeleteFunc(next.OwnerReferences, func(o metav1.OwnerReference) bool {
				lost := r.Intn(2) == 0
				if lost {
					gone.Owners = append(gone.Owners, o.UID)
				}
				return lost
			})
			next.Finalizers = slices.DeleteFunc(next.Finalizers, func(f string) bool {
				lost := r.Intn(2) == 0
				if lost {
					gone.Finalizers = append(gone.Finalizers, f)
				}
				return lost
			})
			if len(next.OwnerReferences) == 0 {
				next.OwnerReferences, gone.NoOwners = nil, len(live.OwnerReferences) > 0
			}
			if len(next.Finalizers) == 0 {
				next.Finalizers, gone.NoFinalizers = nil, len(live.Finalizers) > 0
			}
			got, ok := m.Unlink(res, live.GetManagedFields(), gone)
			if !ok {
				t.Fatalf("round %d: it doesn't know", round)
			}
			want := m.Update(res, "", live.DeepCopy(), next, "collector").(*corev1.Pod).GetManagedFields()
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("round %d, without %+v (-Update +Unlink):\n%s", round, gone, d)
			}
			if gone.NoOwners && gone.NoFinalizers {
				emptied++
			}
			if len(got) < len(live.GetManagedFields()) {
				dropped++
			}
		}
	}
	if emptied < 10 || dropped < 10 {
		t.Errorf("%d rounds left nothing, %d no entry of a manager's", emptied, dropped)
	}
}

func randomOwners(r *rand.Rand) (all []metav1.OwnerReference) {
	for i := range r.Intn(4) {
		block := r.Intn(2) == 0
		all = append(all, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: types.UID(fmt.Sprint("u", i)), BlockOwnerDeletion: &block,
		})
	}
	return all
}

func randomFinalizers(r *rand.Rand) (all []string) {
	for i := range r.Intn(3) {
		all = append(all, fmt.Sprintf("example.com/%d", i))
	}
	return all
}

// TestUnlinkUnsure: what it can't know it leaves to Update.
func TestUnlinkUnsure(t *testing.T) {
	res := table.Kind(corev1.SchemeGroupVersion.WithKind("Pod"))
	entry := func(version, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: "m", Operation: "Update", APIVersion: version, FieldsType: "FieldsV1",
			FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)},
		}
	}
	for name, entries := range map[string][]metav1.ManagedFieldsEntry{
		"none":               nil,
		"another version":    {entry("v1", `{"f:data":{}}`), entry("v2", `{"f:data":{}}`)},
		"no fields":          {{Manager: "m", APIVersion: "v1"}},
		"of managedFields":   {entry("v1", `{"f:metadata":{"f:managedFields":{}}}`)},
		"that can't be read": {entry("v1", `{"f:metadata":{"f:ownerReferences":5}}`)},
	} {
		if got, ok := New(Config{Types: table}).Unlink(res, entries, Links{NoOwners: true}); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestUnlinkTwice: what was left of the same fields is remembered only of the same links.
func TestUnlinkTwice(t *testing.T) {
	m, res := New(Config{Types: table}), table.Kind(corev1.SchemeGroupVersion.WithKind("Pod"))
	entries := []metav1.ManagedFieldsEntry{{Manager: "m", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(
			`{"f:metadata":{"f:finalizers":{".":{},"v:\"f\"":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"a\"}":{}}}}`,
		)}}}
	both := Links{Owners: []types.UID{"a"}, Finalizers: []string{"f"}}
	owners, finalizers, all := both, both, both
	owners.NoOwners, finalizers.NoFinalizers, all.NoOwners, all.NoFinalizers = true, true, true, true
	for _, c := range []struct {
		gone Links
		want string
	}{
		{both, `{"f:metadata":{"f:finalizers":{},"f:ownerReferences":{}}}`},
		{owners, `{"f:metadata":{"f:finalizers":{}}}`},
		{both, `{"f:metadata":{"f:finalizers":{},"f:ownerReferences":{}}}`},
		{finalizers, `{"f:metadata":{"f:ownerReferences":{}}}`},
		{finalizers, `{"f:metadata":{"f:ownerReferences":{}}}`},
		{both, `{"f:metadata":{"f:finalizers":{},"f:ownerReferences":{}}}`},
		{all, ""},
	} {
		left, ok := m.Unlink(res, entries, c.gone)
		got := ""
		if len(left) > 0 {
			got = string(left[0].FieldsV1.GetRawBytes())
		}
		if !ok || got != c.want {
			t.Errorf("without %+v: %s, %t, want %s", c.gone, got, ok, c.want)
		}
	}
}

func BenchmarkUnlink(b *testing.B) {
	m, res := New(Config{Types: table}), table.Kind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	obj := configMap()
	m.Update(res, "", nil, obj, "test")
	gone := Links{Owners: []types.UID{obj.OwnerReferences[0].UID}, NoOwners: true}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := m.Unlink(res, obj.ManagedFields, gone); !ok {
			b.Fatal("it doesn't know")
		}
	}
}
