package protection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/yaml"
)

// TestRules runs testdata/rules: the pure decisions. The input is YAML objects in the spelling of
// kubectl; namespaces are "ns" where there are namespaces, if not given. The commands are
//
//	define NAME           keeps an object
//	decide NAME [by=(..)] the verdict on an object, with what there is of users; and the finalizers
//	                      that it has then
//	uses NAME             what it uses
//	released OLD [NEW]    what is no longer used
func TestRules(t *testing.T) {
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		defined := map[string]Object{}
		get := func(d *datadriven.TestData, name string) Object {
			o := defined[name]
			if o == nil {
				d.Fatalf(t, "%q is not defined", name)
			}
			return o
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			first := get
			if d.Cmd == "define" {
				first = func(d *datadriven.TestData, _ string) Object { return parse(t, d) }
			}
			name := d.CmdArgs[0].Key
			o := first(d, name)
			switch d.Cmd {
			case "define":
				defined[name] = o
				return ""
			case "decide":
				var users []Object
				if by, ok := d.Arg("by"); ok {
					for _, name := range by.Vals {
						users = append(users, get(d, name))
					}
				}
				r := ruleOf(o)
				v := r.decide(o, users)
				if r.pending(o) == (v == Leave) {
					d.Fatalf(t, "pending says %v", r.pending(o))
				}
				had := slices.Clone(o.GetFinalizers())
				after := r.finalizers(o, v)
				if !slices.Equal(had, o.GetFinalizers()) {
					d.Fatalf(t, "the object was changed")
				}
				return fmt.Sprintf("%v %v\n", v, after)
			case "uses":
				return printUses(uses(o))
			case "released":
				var now Object
				if len(d.CmdArgs) > 1 {
					now = get(d, d.CmdArgs[1].Key)
				}
				return fmt.Sprintln(released(o, now))
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

func ruleOf(o Object) Rule {
	switch o.(type) {
	case *corev1.PersistentVolume:
		return Volumes()
	case *corev1.PersistentVolumeClaim:
		return Claims()
	}
	return Classes()
}

func parse(t *testing.T, d *datadriven.TestData) Object {
	var o Object
	kind, rest, _ := strings.Cut(d.Input, "\n")
	switch kind {
	case "kind: Pod":
		o = &corev1.Pod{}
	case "kind: PersistentVolumeClaim":
		o = &corev1.PersistentVolumeClaim{}
	case "kind: PersistentVolume":
		o = &corev1.PersistentVolume{}
	case "kind: VolumeAttributesClass":
		o = &storagev1.VolumeAttributesClass{}
	default:
		d.Fatalf(t, "the first line is %q", kind)
	}
	if err := yaml.UnmarshalStrict([]byte(rest), o); err != nil {
		d.Fatalf(t, "%v", err)
	}
	switch o.(type) {
	case *corev1.Pod, *corev1.PersistentVolumeClaim:
		if o.GetNamespace() == "" {
			o.SetNamespace("ns")
		}
	}
	return o
}

func printUses(us []use) string {
	var b strings.Builder
	for _, u := range us {
		fmt.Fprintf(&b, "%s/%s", u.Namespace, u.Name)
		if u.owner != "" {
			fmt.Fprintf(&b, " if controlled by %s", u.owner)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
