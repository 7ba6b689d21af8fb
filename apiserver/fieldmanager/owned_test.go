package fieldmanager

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// written by whom, and by way of which endpoint.
type author struct{ manager, sub string }

// TestOwned: writes that give but new values to a manager's own fields are found, others aren't, and both lead to what
// apimachinery's field manager makes of them.
func TestOwned(t *testing.T) {
	m := New(Config{Types: table})
	creator := author{manager: "creator"}
	label := func(value string) func(object) {
		return func(o object) {
			labels := maps.Clone(o.GetLabels())
			labels["app"] = value
			o.SetLabels(labels)
		}
	}
	phase := func(p corev1.PodPhase) func(object) {
		return func(o object) { o.(*corev1.Pod).Status.Phase = p }
	}
	condition := func(kinds ...corev1.PodConditionType) func(object) {
		return func(o object) {
			status := &o.(*corev1.Pod).Status
			status.Conditions = nil
			for i, kind := range kinds {
				status.Conditions = append(
					status.Conditions,
					corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Message: fmt.Sprint(len(kinds), i)},
				)
			}
		}
	}
	reason := func(i int, text string) func(object) {
		return func(o object) { o.(*corev1.Pod).Status.Conditions[i].Message = text }
	}
	data := func(d map[string]string) func(object) {
		return func(o object) { o.(*corev1.ConfigMap).Data = d }
	}
	both := func(all ...func(object)) func(object) {
		return func(o object) {
			for _, f := range all {
				f(o)
			}
		}
	}
	fields := func(all ...metav1.ManagedFieldsEntry) func(object) {
		return func(o object) { o.SetManagedFields(all) }
	}
	entry := func(manager, set string) metav1.ManagedFieldsEntry {
		raw := &metav1.FieldsV1{}
		raw.SetRawBytes([]byte(set))
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: raw,
		}
	}
	applied := entry("creator", `{"f:data":{"f:a":{}}}`)
	applied.Operation = metav1.ManagedFieldsOperationApply
	resized := entry("r", `{"f:metadata":{"f:labels":{"f:app":{}}}}`)
	resized.Subresource = "resize"
	schemaConditions := func(kinds ...flowcontrolv1.FlowSchemaConditionType) func(object) {
		return func(o object) {
			for _, kind := range kinds {
				status := &o.(*flowcontrolv1.FlowSchema).Status
				status.Conditions = append(status.Conditions, flowcontrolv1.FlowSchemaCondition{Type: kind})
			}
		}
	}
	broken := func(o object) {
		o.(*corev1.PodTemplate).Template.ManagedFields = podTemplate(`5`).Template.ManagedFields
	}
	replicas := func(n int32) func(object) {
		return func(o object) { o.(*appsv1.Deployment).Status.Replicas = n }
	}
	brokenSpec := func(o object) {
		o.(*appsv1.Deployment).Spec.Template.ManagedFields = podTemplate(`5`).Template.ManagedFields
	}
	var many []metav1.ManagedFieldsEntry
	for i := range mostManagers + 2 {
		many = append(many, entry(fmt.Sprint("m", i), fmt.Sprintf(`{"f:data":{"f:k%d":{}}}`, i)))
	}
	many[0] = entry("m0", `{"f:data":{".":{},"f:a":{},"f:b":{}}}`)
	anonymous := author{}
	kubelet := author{"kubelet", "status"}
	type write struct {
		by   author
		edit func(object)
	}
	for _, c := range []struct {
		name  string
		start object
		// before are the writes after the creation, the last is compared.
		before []write
		last   write
		want   bool
	}{
		{"a value", configMap(), nil, write{creator, data(map[string]string{"a": "9", "b": "2"})}, true},
		{"two values", configMap(), nil, write{creator, both(label("z"), data(map[string]string{"a": "9", "b": "8"}))}, true},
		{
			"another manager's value", configMap(), nil,
			write{author{manager: "other"}, data(map[string]string{"a": "9", "b": "2"})}, false,
		},
		{"one's own beside another's", configMap(),
			[]write{{author{manager: "other"}, data(map[string]string{"a": "9", "b": "2"})}},
			write{author{manager: "other"}, data(map[string]string{"a": "8", "b": "2"})}, true},
		{"what was taken", configMap(), []write{{author{manager: "other"}, data(map[string]string{"a": "9", "b": "2"})}},
			write{creator, data(map[string]string{"a": "8", "b": "2"})}, false},
		{"a key more", configMap(), nil, write{creator, data(map[string]string{"a": "1", "b": "2", "c": "3"})}, false},
		{"a key less", configMap(), nil, write{creator, data(map[string]string{"a": "1"})}, false},
		{"another key", configMap(), nil, write{creator, data(map[string]string{"a": "1", "c": "2"})}, false},
		{"a key that looks like a part of a set", configMap(), []write{
			{creator, both(data(map[string]string{`a":{"f:x`: "1"}), fields(entry("creator", `{"f:data":{"f:a":{"f:x":{}}}}`)))},
		},
			write{creator, data(map[string]string{`a":{"f:x`: "2"})}, false},
		{"no value at all", configMap(), nil, write{creator, data(nil)}, false},
		{"nothing", configMap(), nil, write{creator, func(object) {}}, true},
		{"nothing, by one who has nothing", configMap(), nil, write{author{manager: "other"}, func(object) {}}, false},
		{"what has no owner", configMap(), nil, write{creator, func(o object) {
			o.SetResourceVersion("7")
			o.SetGeneration(3)
			o.SetUID("other")
		}}, true},
		{"no name", configMap(), []write{{anonymous, label("y")}}, write{anonymous, label("z")}, true},
		{"a lease", &coordinationv1.Lease{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
			ObjectMeta: metav1.ObjectMeta{Name: "a"},
			Spec:       coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{}, HolderIdentity: new(string)}}, nil,
			// no time is null
			write{creator, func(o object) { o.(*coordinationv1.Lease).Spec.RenewTime.Time = metav1.Now().Time }}, true},
		{"a lease again", &coordinationv1.Lease{TypeMeta: metav1.TypeMeta{
			APIVersion: "coordination.k8s.io/v1", Kind: "Lease",
		}, ObjectMeta: metav1.ObjectMeta{Name: "a"},
			Spec: coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: metav1.Unix(1, 0).Time}}}, nil,
			write{creator, func(o object) { o.(*coordinationv1.Lease).Spec.RenewTime.Time = metav1.Now().Time }}, true},

		{"a status", pod(t), []write{{kubelet, phase("Pending")}}, write{kubelet, phase("Running")}, true},
		{"a status that isn't there yet", pod(t), nil, write{kubelet, phase("Running")}, false},
		{
			"a status by the endpoint that resets it", pod(t), []write{{kubelet, phase("Pending")}},
			write{creator, both(phase("Running"), label("z"))}, true,
		},
		{
			"one's own label by an endpoint of which one has nothing", pod(t), nil,
			write{author{"creator", "status"}, label("z")}, false,
		},
		{"one's own label by another endpoint", pod(t), []write{{author{"creator", "status"}, phase("Pending")}},
			write{author{"creator", "status"}, both(phase("Running"), label("z"))}, false},
		{"a part that an endpoint may own", pod(t), []write{{author{"r", "resize"}, func(o object) {
			o.(*corev1.Pod).Spec.Containers[0].Resources.Limits = limits("1")
		}}},
			write{author{"r", "resize"}, func(o object) { o.(*corev1.Pod).Spec.Containers[0].Resources.Limits = limits("2") }},
			false},
		{"a quantity in another form", pod(t), []write{{author{"r", "resize"}, func(o object) {
			o.(*corev1.Pod).Spec.Containers[0].Resources.Limits = limits("1")
		}}},
			write{author{"r", "resize"}, func(o object) {
				q := o.(*corev1.Pod).Spec.Containers[0].Resources.Limits["cpu"]
				_ = q.String()
			}}, false},
		{"the same quantity in another form", quota(resource.MustParse("1")), nil,
			write{creator, func(o object) {
				o.(*corev1.ResourceQuota).Spec.Hard = corev1.ResourceList{
					"pods": *resource.NewQuantity(1, resource.DecimalExponent),
				}
			}}, true},
		{"a list as a whole that may break", podTemplate(`{}`), nil, write{creator, broken}, false},
		{
			"elements of a list", pod(t), []write{{kubelet, condition("A", "B")}},
			write{kubelet, both(reason(0, "x"), reason(1, "y"))}, true,
		},
		{
			"elements in another order", pod(t), []write{{kubelet, condition("A", "B")}}, write{kubelet, condition("B", "A")},
			false,
		},
		{"another element", pod(t), []write{{kubelet, condition("A", "B")}}, write{kubelet, condition("A", "C")}, false},
		{"an element less", pod(t), []write{{kubelet, condition("A", "B")}}, write{kubelet, condition("A")}, false},
		{
			"elements with the same key", pod(t), []write{{kubelet, condition("A", "A")}}, write{kubelet, reason(1, "y")}, false,
		},
		{"an empty list instead of none", pod(t),
			[]write{{creator, func(o object) { o.(*corev1.Pod).Spec.Containers = nil }}},
			write{creator, func(o object) { o.(*corev1.Pod).Spec.Containers = []corev1.Container{} }}, false},
		{"a list of values as a whole", pod(t),
			[]write{{creator, func(o object) { o.(*corev1.Pod).Spec.Containers[0].Args = []string{"a"} }}},
			write{creator, func(o object) { o.(*corev1.Pod).Spec.Containers[0].Args = []string{"b", "c"} }}, true},
		{"finalizers", configMap(), []write{{creator, func(o object) { o.SetFinalizers([]string{"a.b/c"}) }}},
			write{creator, func(o object) { o.SetFinalizers([]string{"a.b/d"}) }}, false},

		{"by an entry of which part is a part of the field", configMap(),
			[]write{{creator, fields(entry("creator", `{"f:data":{"f:a":{"f:x":{}},"f:b":{}}}`))}},
			write{creator, data(map[string]string{"a": "9", "b": "2"})}, false},
		{"a value that two have", configMap(), []write{
			{creator, fields(entry("creator", `{"f:data":{"f:a":{}}}`), entry("other", `{"f:data":{"f:a":{},"f:b":{}}}`))},
		},
			write{creator, data(map[string]string{"a": "9", "b": "2"})}, false},
		{
			"a value that was applied", configMap(), []write{{creator, fields(applied)}},
			write{creator, data(map[string]string{"a": "9", "b": "2"})}, false,
		},
		{"two entries of a manager", configMap(),
			[]write{{creator, fields(entry("creator", `{"f:data":{"f:a":{}}}`), entry("creator", `{"f:data":{"f:b":{}}}`))}},
			write{creator, data(map[string]string{"a": "1", "b": "9"})}, false},
		{"more managers than are kept", configMap(), []write{{creator, fields(many...)}},
			write{author{manager: "m0"}, data(map[string]string{"a": "9", "b": "2"})}, false},
		{
			"what an endpoint leaves out of account, of an entry that has it", pod(t), []write{{creator, fields(resized)}},
			write{author{"r", "resize"}, label("z")}, false,
		},
		{
			"a broken status by the endpoint that resets it", flowSchema(), nil,
			write{creator, both(label("z"), schemaConditions(""))}, false,
		},
		{"a broken spec by the endpoint that resets it", &appsv1.Deployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
			ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"a": "b"}},
		},
			[]write{{author{"d", "status"}, replicas(1)}}, write{author{"d", "status"}, both(replicas(2), brokenSpec)}, false},
		{
			"a status by the endpoint that resets it and looks at it", flowSchema(), nil,
			write{creator, both(label("z"), schemaConditions("a", "b"))}, true,
		},
		{"an entry without fields", configMap(), []write{{creator, fields(
			entry("creator", `{"f:data":{"f:a":{}}}`),
			metav1.ManagedFieldsEntry{Manager: "m", Operation: "Update", APIVersion: "v1"},
		)}},
			write{creator, data(map[string]string{"a": "9", "b": "2"})}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := table.Kind(c.start.GetObjectKind().GroupVersionKind())
			live := m.Update(res, "", nil, c.start, "creator").(object)
			live.SetUID("u")
			for _, w := range c.before {
				next := live.DeepCopyObject().(object)
				w.edit(next)
				if len(next.GetManagedFields()) > 0 && cmp.Equal(next.GetManagedFields(), live.GetManagedFields()) {
					m.Update(res, w.by.sub, live, next, w.by.manager)
				}
				live = next
			}
			entries := live.GetManagedFields()
			for i := range entries {
				entries[i].Time = nil
			}
			next := live.DeepCopyObject().(object)
			c.last.edit(next)
			e, err := m.endpoint(res, c.last.by.sub)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			if e.owned != nil {
				a, b, _ := e.pruner().prune(bare(live), bare(next))
				_, found = e.owned().entries(a, b, entries, c.last.by.manager, c.last.by.sub)
			}
			if found != c.want {
				t.Errorf("found: %t", found)
			}
			want := straight(t, res, c.last.by.sub).UpdateNoErrors(
				live.DeepCopyObject(), next.DeepCopyObject(), c.last.by.manager,
			).(object)
			got := m.Update(res, c.last.by.sub, live, next, c.last.by.manager).(object)
			if d := cmp.Diff(renewed(want), renewed(got)); d != "" {
				t.Errorf("entries with a new time (-field manager +own):\n%s", d)
			}
			forget(want)
			forget(got)
			if d := cmp.Diff(want.GetManagedFields(), got.GetManagedFields()); d != "" {
				t.Errorf("-field manager +own:\n%s", d)
			}
		})
	}
}

// flowSchema is of a kind whose conditions may lack their key.
func flowSchema() object {
	return &flowcontrolv1.FlowSchema{TypeMeta: metav1.TypeMeta{
		APIVersion: "flowcontrol.apiserver.k8s.io/v1", Kind: "FlowSchema",
	},
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"app": "x"}}}
}

func quota(pods resource.Quantity) object {
	return &corev1.ResourceQuota{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"},
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": pods}}}
}

// podTemplate has a list with any JSON in it.
func podTemplate(fields string) *corev1.PodTemplate {
	o := &corev1.PodTemplate{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodTemplate"}, ObjectMeta: metav1.ObjectMeta{Name: "a"},
	}
	o.Template.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}}
	return o
}

func limits(cpu string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(cpu)}
}

// bare is what is compared: managedFields aren't.
func bare(o object) runtime.Object {
	o = shallow(o).(object)
	o.SetManagedFields(nil)
	return o
}

// straight is apimachinery's field manager with client-go's schemas.
func straight(t *testing.T, res *resources.Resource, sub string) *managedfields.FieldManager {
	p := plain{res}
	m, err := managedfields.NewDefaultFieldManager(applyconfigurations.NewTypeConverter(scheme.Scheme), p, p, p,
		res.GroupVersionKind(),
		schema.GroupVersion{
			Group: res.Group, Version: runtime.APIVersionInternal,
		}, sub, resets(res, sub, []*resources.Resource{res}))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAt finds fields in sets.
func TestAt(t *testing.T) {
	set := `{"f:a":{".":{},"f:b":{"f:c":{}},"k:{\"n\":\"}{\\\"f:x\\\":\"}":{"f:y":{}}},"f:c":{"f:a":{}},"f:d":{}}`
	for path, want := range map[string]string{
		"f:a":                                  `{".":{},"f:b"`,
		"f:a f:b":                              `{"f:c":{}},"k:`,
		"f:c":                                  `{"f:a":{}},"f:d"`,
		"f:c f:a":                              `{}},"f:d"`,
		"f:d":                                  `{}}`,
		`f:a k:{\"n\":\"}{\\\"f:x\\\":\"} f:y`: `{}}},"f:c"`,
		"f:b":                                  "", "f:a f:c": "", "f:a f:a": "", "f:a f:x": "", "f:d f:a": "", "f:": "",
		"f:e": "",
	} {
		var names []string
		for name := range strings.FieldsSeq(path) {
			names = append(names, `"`+name+`":`)
		}
		got := string(at([]byte(set), names))
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := at([]byte(`{"k:{\"n\":\"}}\"}":{},"f:c":{}}`), []string{`"f:c":`}); string(got) != "{}}" {
		t.Errorf("behind brackets in a text: %q", got)
	}
	for _, broken := range []string{"", "{", `{"f:`, `{"f:a`, `{"f:a":`, "}", `"\`} {
		if got := at([]byte(broken), []string{`"f:b":`}); got != nil {
			t.Errorf("%q: %s", broken, got)
		}
	}
}
