package fieldmanager

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Each file in testdata is a scenario with one object:
//
//	create RESOURCE manager=...      the input is the object
//	update RESOURCE[/SUB] manager=.. the input replaces the object
//	apply RESOURCE[/SUB] manager=... [force] [strictness=Strict] the input is the document
//	scale RESOURCE manager=... [apply] [force] the input is a Scale
//	managed                          the input replaces metadata.managedFields
//	show                             prints the object without managedFields
//
// A step prints the managed fields after it. RESOURCE is group/version/plural.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &story{t: t, m: New(Config{Types: table})}
		datadriven.RunTest(t, path, s.step)
	})
}

type story struct {
	t    *testing.T
	m    *Managers
	live object
	// clock orders the entries by step, because times are in whole seconds.
	clock time.Time
}

func (s *story) step(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "managed":
		var entries []metav1.ManagedFieldsEntry
		if err := yaml.Unmarshal([]byte(d.Input), &entries); err != nil {
			t.Fatal(err)
		}
		s.live.SetManagedFields(entries)
		return s.entries()
	case "show":
		return s.show()
	}
	res, sub := lookup(t, d.CmdArgs[0].Key)
	var manager string
	d.ScanArgs(t, "manager", &manager)
	var out []string
	var err error
	switch d.Cmd {
	case "create", "update":
		obj := res.New().(object)
		if err := yaml.Unmarshal([]byte(d.Input), obj); err != nil {
			t.Fatal(err)
		}
		s.replace(res, sub, obj, manager, d.Cmd == "create")
	case "apply":
		strictness := "Ignore"
		d.MaybeScanArgs(t, "strictness", &strictness)
		var live runtime.Object
		if s.live != nil {
			live = s.live
		}
		var obj runtime.Object
		obj, err = s.m.Apply(res, sub, live, []byte(d.Input), manager, d.HasArg("force"), strictness, func(w string) {
			out = append(out, "warning: "+w)
		})
		if err == nil {
			s.store(obj.(object))
		}
	case "scale":
		err = s.scale(res, d, manager)
	}
	if err != nil {
		return strings.Join(append(out, describe(err)), "\n") + "\n"
	}
	return strings.Join(append(out, s.entries()), "\n")
}

func (s *story) replace(res *resources.Resource, sub string, obj object, manager string, create bool) {
	var live runtime.Object
	if !create {
		live = s.live
		obj.SetUID(s.live.GetUID())
	}
	if res.ToStored != nil {
		stored, err := res.ToStored(obj)
		if err != nil {
			s.t.Fatal(err)
		}
		obj = stored.(object)
	}
	s.store(s.m.Update(res, sub, live, obj, manager).(object))
}

// store replaces the current time in entries by the time of the step.
func (s *story) store(obj object) {
	if s.clock.IsZero() {
		s.clock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	s.clock = s.clock.Add(time.Second)
	entries := slices.Clone(obj.GetManagedFields())
	for i := range entries {
		if entries[i].Time != nil && entries[i].Time.After(s.clock) {
			entries[i].Time = &metav1.Time{Time: s.clock}
		}
	}
	obj.SetManagedFields(entries)
	obj.SetUID(types.UID("uid"))
	s.live = obj
}

func (s *story) scale(res *resources.Resource, d *datadriven.TestData, manager string) error {
	scaling, err := s.m.Scaling(res, s.live)
	if err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.live)
	if err != nil {
		return err
	}
	spec := content["spec"].(map[string]any)
	live := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: s.live.GetName(), UID: s.live.GetUID()}}
	if n, ok := spec["replicas"].(int64); ok {
		live.Spec.Replicas = int32(n)
	}
	var next *autoscalingv1.Scale
	if d.HasArg("apply") {
		next, err = scaling.Apply(live, []byte(d.Input), manager, d.HasArg("force"), "Ignore", nil)
	} else {
		next = &autoscalingv1.Scale{}
		if err = yaml.Unmarshal([]byte(d.Input), next); err == nil {
			next = scaling.Update(live, next, manager)
		}
	}
	if err != nil {
		return err
	}
	entries, err := scaling.Entries(next)
	if err != nil {
		return err
	}
	spec["replicas"] = int64(next.Spec.Replicas)
	obj := res.New().(object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, obj); err != nil {
		return err
	}
	obj.SetManagedFields(entries)
	s.store(obj)
	return nil
}

func (s *story) entries() string {
	var b strings.Builder
	for _, e := range s.live.GetManagedFields() {
		fmt.Fprintf(&b, "%s %s %s", e.Manager, e.Operation, e.APIVersion)
		if e.Subresource != "" {
			fmt.Fprintf(&b, " /%s", e.Subresource)
		}
		if e.Time == nil {
			b.WriteString(" (no time)")
		}
		fmt.Fprintf(&b, "\n  %s\n", e.FieldsV1.GetRawBytes())
	}
	if b.Len() == 0 {
		return "no entries\n"
	}
	return b.String()
}

func (s *story) show() string {
	obj := s.live.DeepCopyObject().(object)
	obj.SetManagedFields(nil)
	data, err := json.Marshal(obj)
	if err != nil {
		s.t.Fatal(err)
	}
	data, err = yaml.JSONToYAML(data)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func describe(err error) string {
	var b strings.Builder
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return "500 " + err.Error()
	}
	st := status.Status()
	fmt.Fprintf(&b, "%d %s %s", st.Code, st.Reason, st.Message)
	if st.Details != nil {
		for _, c := range st.Details.Causes {
			fmt.Fprintf(&b, "\n  %s %s: %s", c.Type, c.Field, c.Message)
		}
	}
	return b.String()
}

// lookup finds an entry and subresource by "v1/pods/status" or "apps/v1/deployments".
func lookup(t *testing.T, path string) (*resources.Resource, string) {
	parts := strings.Split(path, "/")
	if parts[0][0] == 'v' {
		parts = append([]string{""}, parts...)
	}
	res := table.Lookup(parts[0], parts[1], parts[2])
	if res == nil {
		t.Fatalf("no resource %s", schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]})
	}
	if len(parts) > 3 {
		return res, parts[3]
	}
	return res, ""
}
