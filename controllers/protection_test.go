package controllers

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestProtection runs testdata/protection. The input is YAML objects in the spelling of kubectl; namespaces are "ns"
// where there are namespaces, if not given. The commands are
//
//	define NAME           keeps an object
//	decide NAME [by=(..)] what a pass does to an object, if its users are those, and the finalizers that it has then
func TestProtection(t *testing.T) {
	rules := map[workload.Resource]workload.Controller{workload.Volumes: volumeProtection(),
		workload.Claims: claimProtection(), workload.AttributesClasses: classProtection()}
	datadriven.Walk(t, "testdata/protection", func(t *testing.T, path string) {
		defined := map[string]workload.Object{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			name := d.CmdArgs[0].Key
			if d.Cmd == "define" {
				defined[name] = parse(t, d)
				return ""
			}
			w, o := workloadtest.New(), defined[name]
			w.Put(o)
			if by, ok := d.Arg("by"); ok {
				for _, user := range by.Vals {
					w.Put(defined[user])
				}
			}
			did := w.Pass(rules[workload.Of(o)], workload.KeyOf(o))
			left := "gone"
			if o = w.Get(workload.Of(o), o.GetNamespace(), o.GetName()); o != nil {
				left = fmt.Sprint(o.GetFinalizers())
			}
			return did + left + "\n"
		})
	})
}

// parse reads an object.
func parse(t *testing.T, d *datadriven.TestData) workload.Object {
	var head struct{ Kind string }
	err := yaml.Unmarshal([]byte(d.Input), &head)
	for _, r := range workload.Resources() {
		if err != nil || r.Kind != head.Kind {
			continue
		}
		o := r.New()
		err = yaml.UnmarshalStrict([]byte(d.Input), o)
		if o.GetNamespace() == "" && (r == workload.Pods || r == workload.Claims) {
			o.SetNamespace("ns")
		}
		if err == nil {
			return o
		}
	}
	d.Fatalf(t, "kind %q: %v", head.Kind, err)
	return nil
}

// TestProtectionWakes: passes follow changes that may end a use, over objects that need one.
func TestProtectionWakes(t *testing.T) {
	const finalizer = "kubernetes.io/pvc-protection"
	w := workloadtest.New()
	for _, text := range []string{
		"kind: PersistentVolumeClaim\nmetadata: {namespace: ns, name: c, finalizers: [" + finalizer + "], " +
			"deletionTimestamp: 2026-01-02T03:04:05Z}",
		"kind: PersistentVolumeClaim\nmetadata: {namespace: ns, name: alive, finalizers: [" + finalizer + "]}",
	} {
		w.Put(parse(t, &datadriven.TestData{Input: text}))
	}
	c, dying := claimProtection(), workload.Key{Namespace: "ns", Name: "c"}
	meta := func(name string, deleting bool, finalizers ...string) *workload.Meta {
		return &workload.Meta{Key: workload.Key{Namespace: "ns", Name: name}, Deleting: deleting,
			Finalizers: finalizers,
			Claims:     func() ([]string, error) { return []string{"alive", "c", "none"}, nil }}
	}
	unreadable := meta("p", false)
	unreadable.Claims = func() ([]string, error) { return nil, errors.New("unreadable") }
	for _, x := range []struct {
		about  string
		change workload.Change
		want   []workload.Key
	}{
		{"a claim without the finalizer", workload.Change{Resource: workload.Claims, New: meta("c", false)},
			[]workload.Key{dying}},
		{"a claim that is protected", workload.Change{Resource: workload.Claims, New: meta("c", false, finalizer)},
			nil},
		{"a claim that is being deleted", workload.Change{Resource: workload.Claims, New: meta("c", true, finalizer)},
			[]workload.Key{dying}},
		{"a released claim", workload.Change{Resource: workload.Claims, New: meta("c", true, "other")}, nil},
		{"a deleted claim", workload.Change{Resource: workload.Claims, Old: meta("c", true)}, nil},
		{"a new pod", workload.Change{Resource: workload.Pods, New: meta("p", false)}, nil},
		{"a pod that changes",
			workload.Change{Resource: workload.Pods, Old: meta("p", false), New: meta("p", false)}, nil},
		{"a pod that may be shut down", workload.Change{Resource: workload.Pods, Old: meta("p", false), New: meta("p",
			true)},
			[]workload.Key{dying}},
		{"a deleted pod", workload.Change{Resource: workload.Pods, Old: meta("p", true)}, []workload.Key{dying}},
		{"a deleted pod that can't be decoded", workload.Change{Resource: workload.Pods, Old: unreadable},
			[]workload.Key{dying}},
		{"a pod that can be decoded again",
			workload.Change{Resource: workload.Pods, Old: unreadable, New: meta("p", false)}, []workload.Key{dying}},
		{"a pod that can't be decoded any more",
			workload.Change{Resource: workload.Pods, Old: meta("p", false), New: unreadable}, nil},
	} {
		if diff := cmp.Diff(x.want, c.Wake(w, x.change)); diff != "" {
			t.Errorf("%s: %s", x.about, diff)
		}
	}
}
