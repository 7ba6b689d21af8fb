package fieldmanager

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

//
func TestManagerComesFromParameterOrAgent(t *testing.T) {
	long := strings.Repeat("x", 127)
	for _, c := range []struct{ field, agent, want string }{
		{"", "kubectl/v1.36.3 (linux/amd64)", "kubectl"},
		{"me", "kubectl/v1.36.3", "me"},
		{"", "", "unknown"},
		{"", "/x", "unknown"},
		{"", "no slash", "no slash"},
		{"", "a\tb\x00c\u200b/1", "abc"},
		{"", long + "yz/1", long + "y"},
		{"", long + "ü", long},
	} {
		if got := Manager(c.field, c.agent); got != c.want {
			t.Errorf("Manager(%q, %q) = %q, want %q", c.field, c.agent, got, c.want)
		}
	}
}

func entry(manager string, seconds int64, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1",
		Time: &metav1.Time{Time: time.Unix(seconds, 0)}, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
}

// B-17
func TestTimesAreKeptWithoutChanges(t *testing.T) {
	old := configMap()
	old.SetManagedFields([]metav1.ManagedFieldsEntry{entry("a", 1, `{"f:data":{}}`), entry("b", 2, `{}`)})
	for name, c := range map[string]struct {
		change func(*corev1.ConfigMap)
		kept   bool
	}{
		"nothing":       {func(*corev1.ConfigMap) {}, true},
		"a revision":    {func(m *corev1.ConfigMap) { m.ResourceVersion = "5" }, true},
		"empty for nil": {func(m *corev1.ConfigMap) { m.Annotations = map[string]string{} }, true},
		"empty bytes":   {func(m *corev1.ConfigMap) { m.BinaryData = map[string][]byte{} }, true},
		"a label":       {func(m *corev1.ConfigMap) { m.Labels = map[string]string{"app": "y"} }, false},
		"a value":       {func(m *corev1.ConfigMap) { m.Data["a"] = "x" }, false},
		"a field":       {func(m *corev1.ConfigMap) { m.ManagedFields[0].FieldsV1.Raw = []byte(`{}`) }, false},
		"an entry":      {func(m *corev1.ConfigMap) { m.ManagedFields = m.ManagedFields[1:] }, false},
		"a manager":     {func(m *corev1.ConfigMap) { m.ManagedFields[0].Manager = "c" }, false},
	} {
		obj := old.DeepCopy()
		obj.ManagedFields[1].Time = &metav1.Time{Time: time.Unix(9, 0)}
		c.change(obj)
		KeepTimes(obj, old)
		kept := obj.ManagedFields[len(obj.ManagedFields)-1].Time.Unix() == 2
		if kept != c.kept {
			t.Errorf("%s: times kept: %v, want %v", name, kept, c.kept)
		}
	}
}

// TestKeepTimesOfCustomResources: in a custom resource, an empty map is different from an absent one.
func TestKeepTimesOfCustomResources(t *testing.T) {
	u := func(seconds int64, spec map[string]any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		u.SetManagedFields([]metav1.ManagedFieldsEntry{entry("a", seconds, "{}")})
		return u
	}
	old := u(1, map[string]any{"a": int64(1)})
	for _, c := range []struct {
		spec map[string]any
		want int64
	}{
		{map[string]any{"a": int64(1)}, 1}, {map[string]any{"a": int64(2)}, 5},
		{map[string]any{"a": int64(1), "b": map[string]any{}}, 5},
	} {
		obj := u(5, c.spec)
		KeepTimes(obj, old)
		if got := obj.GetManagedFields()[0].Time.Unix(); got != c.want {
			t.Errorf("spec %v: time %d, want %d", c.spec, got, c.want)
		}
	}
}

// A-43, J-02
func TestDeletionIsNotApplied(t *testing.T) {
	m := New(Config{Types: table})
	document := `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 5}, "data": {"a": "1"}}`
	obj, err := m.Apply(table.Kind(configMap().GroupVersionKind()), "", nil, []byte(document), "one", false, "Strict", nil)
	if err != nil {
		t.Fatal(err)
	}
	o := obj.(*corev1.ConfigMap)
	if o.DeletionTimestamp != nil || o.DeletionGracePeriodSeconds != nil {
		t.Errorf("a new object is being deleted: %v", o.ObjectMeta)
	}
	if got, want := string(o.ManagedFields[0].FieldsV1.GetRawBytes()), `{"f:data":{"f:a":{}}}`; got != want {
		t.Errorf("fields %s, want %s", got, want)
	}
}

//
func TestAdmissionCannotInvalidateManagedFields(t *testing.T) {
	obj := configMap()
	valid := []metav1.ManagedFieldsEntry{entry("a", 1, `{"f:data":{}}`)}
	var warned []string
	warn := func(text string) { warned = append(warned, text) }
	obj.SetManagedFields(valid)
	rejected := errors.New("rejected")
	if err := Guard(obj, warn, func() error { return rejected }); err != rejected {
		t.Errorf("Guard() = %v, want what admission says", err)
	}
	other := []metav1.ManagedFieldsEntry{entry("b", 1, `{}`)}
	if err := Guard(obj, warn, func() error { obj.SetManagedFields(other); return nil }); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(other, obj.GetManagedFields()); d != "" || warned != nil {
		t.Errorf("valid fields were not left alone: %v %s", warned, d)
	}
	if err := Guard(obj, warn, func() error {
		obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x"}})
		return nil
	}); err != nil {
		t.Error(err)
	}
	want := []string{
		".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating " +
			"admission controller; please fix your requests: operation must be `Apply` or `Update`",
	}
	if d := cmp.Diff(want, warned); d != "" {
		t.Errorf("warnings (-want +got):\n%s", d)
	}
	if d := cmp.Diff(other, obj.GetManagedFields()); d != "" {
		t.Errorf("managed fields were not put back (-want +got):\n%s", d)
	}
	warned = nil
	if err := Guard(obj, warn, func() error { obj.GetManagedFields()[0].Operation = ""; return nil }); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(other, obj.GetManagedFields()); d != "" || len(warned) != 1 {
		t.Errorf("an entry was not put back: %q (-want +got):\n%s", warned, d)
	}
	warned = nil
	many := slices.Repeat(other, MaxEntries+1)
	if err := Guard(obj, warn, func() error { obj.SetManagedFields(many); return nil }); err != nil {
		t.Error(err)
	}
	if n := len(obj.GetManagedFields()); n != len(other) || len(warned) != 1 {
		t.Errorf("%d of too many entries were left: %q", n, warned)
	}
}

// custom is a resource without a schema.
func custom(version string) *resources.Resource {
	res := &resources.Resource{
		Served: resources.Served{Group: "example.com", Version: version, Kind: "A"},
		Plural: "as", CustomResource: resources.CustomResource{Custom: true},
		Storage:      resources.Storage{Collection: "example.com/as"},
		Subresources: []resources.Subresource{{Name: "status", Action: resources.Status}}}
	res.Stored = res.GroupVersionKind()
	res.New = func() runtime.Object {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(res.GroupVersionKind())
		return u
	}
	return res
}

func TestCustomResourceWithoutSchema(t *testing.T) {
	res := custom("v1")
	m := New(Config{Types: resources.NewTable(res)})
	document := `{"apiVersion": "example.com/v1", "kind": "A", "metadata": {"name": "a"}, "spec": {"list": [{"name": "x"}], "m": {"k": 1}}, "status": {"s": 1}}`
	obj, err := m.Apply(res, "", nil, []byte(document), "one", false, "Strict", nil)
	if err != nil {
		t.Fatal(err)
	}
	u := obj.(*unstructured.Unstructured)
	if got, want := string(u.GetManagedFields()[0].FieldsV1.Raw), `{"f:spec":{".":{},"f:list":{},"f:m":{".":{},"f:k":{}}}}`; got != want {
		t.Errorf("fields %s, want %s", got, want)
	}
	u.SetUID("1")
	next := u.DeepCopy()
	next.SetLabels(map[string]string{"a": "b"})
	next.Object["status"] = map[string]any{"s": int64(2)}
	m.Update(res, "status", u, next, "two")
	var got []string
	for _, e := range next.GetManagedFields() {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.Manager, e.Operation, e.Subresource, e.FieldsV1.GetRawBytes()))
	}
	want := []string{
		`one Apply  {"f:spec":{".":{},"f:list":{},"f:m":{".":{},"f:k":{}}}}`, `two Update status {"f:status":{"f:s":{}}}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
}

// TestEndpointsAreForgotten: endpoints of resources that were removed from the table are dropped, and a new entry of a
// kind gets a new one.
func TestEndpointsAreForgotten(t *testing.T) {
	first, second, other := custom("v1"), custom("v1"), custom("v2")
	types := resources.NewTable(first, other)
	m := New(Config{Types: types})
	write := func(res *resources.Resource) {
		m.Update(res, "", nil, res.New(), "m")
		m.Update(res, "status", nil, res.New(), "m")
	}
	write(first)
	write(other)
	types.Replace([]*resources.Resource{other}, []*resources.Resource{second})
	write(second)
	if len(m.endpoints) != 2 {
		t.Errorf("%d endpoints, want 2", len(m.endpoints))
	}
	for key, e := range m.endpoints {
		if e.res != second {
			t.Errorf("%v is tracked by an entry that left the table", key)
		}
	}
}

// TestConcurrentWrites writes objects of all kinds concurrently, including the first write of each kind.
func TestConcurrentWrites(t *testing.T) {
	m := New(Config{Types: table})
	want := func(obj object) string {
		m.Update(table.Kind(obj.GetObjectKind().GroupVersionKind()), "", nil, obj, "m")
		return string(obj.GetManagedFields()[0].FieldsV1.GetRawBytes())
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, res := range table.All() {
				if res.Collection != "" {
					m.Update(res, "", nil, res.New(), "m")
				}
			}
			if a, b := want(pod(t)), want(pod(t)); a != b {
				t.Errorf("fields %s and %s of the same pod", a, b)
			}
		})
	}
	wg.Wait()
}
