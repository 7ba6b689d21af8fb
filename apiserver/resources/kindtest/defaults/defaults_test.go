package defaults

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/apiserver/resources/kindtest"
)

// all are the built-in kinds.
var all = kindtest.All(time.Now)

// TestScenarios sets the defaults of objects in testdata, and prints the objects as YAML.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "default":
				obj, gvk := objecttest.Read(t, d.Input)
				f := all.Of(gvk).Default
				if f == nil {
					return "no defaults\n"
				}
				f(obj)
				return strings.ReplaceAll(objecttest.Write(t, obj), "\nmetadata: {}\n", "\n")
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// TestDefaultingTwiceEqualsDefaultingOnce: defaulting any object a second time changes nothing.
func TestDefaultingTwiceEqualsDefaultingOnce(t *testing.T) {
	for _, k := range defaulted() {
		gvk := k.GVK
		t.Run(gvk.Kind+"."+gvk.Version+"."+gvk.Group, func(t *testing.T) {
			for seed := range int64(40) {
				obj := objecttest.New(t, gvk)
				objecttest.Fill(seed, obj)
				k.Default(obj)
				once := obj.DeepCopyObject()
				k.Default(obj)
				if diff := cmp.Diff(objecttest.JSON(t, once), objecttest.JSON(t, obj)); diff != "" {
					t.Fatalf("seed %d: defaulted again (-once +twice):\n%s", seed, diff)
				}
			}
		})
	}
}

// TestOtherTypesAreLeftAlone: defaulting does not change an object of another kind.
func TestOtherTypesAreLeftAlone(t *testing.T) {
	for _, k := range defaulted() {
		k.Default(nil)
		obj, _ := objecttest.Read(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")
		want := obj.DeepCopyObject()
		k.Default(obj)
		if diff := cmp.Diff(want, obj); diff != "" {
			t.Errorf("%v changed a config map:\n%s", k.GVK, diff)
		}
	}
}

// defaulted returns the kinds that have defaults.
func defaulted() (list []kindtest.Kind) {
	for _, k := range all {
		if k.Default != nil {
			list = append(list, k)
		}
	}
	return list
}
