package defaults

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/resources/defaults/defaultstest"
)

// TestScenarios defaults objects in testdata: YAML in, YAML out.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "default":
				obj, gvk := defaultstest.Read(t, d.Input)
				f := For(gvk)
				if f == nil {
					return "no defaults\n"
				}
				f(obj)
				return strings.ReplaceAll(defaultstest.Write(t, obj), "\nmetadata: {}\n", "\n")
			case "pull":
				var b strings.Builder
				for _, image := range strings.Split(d.Input, "\n") {
					fmt.Fprintf(&b, "%s: %s\n", image, pullPolicy(image))
				}
				return b.String()
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// TestIdempotent: defaulting twice is defaulting once, whatever the object.
func TestIdempotent(t *testing.T) {
	for _, gvk := range Kinds() {
		t.Run(gvk.Kind+"."+gvk.Version+"."+gvk.Group, func(t *testing.T) {
			for seed := range int64(40) {
				obj := defaultstest.New(t, gvk)
				defaultstest.Fill(seed, obj)
				For(gvk)(obj)
				once := obj.DeepCopyObject()
				For(gvk)(obj)
				if diff := cmp.Diff(defaultstest.JSON(t, once), defaultstest.JSON(t, obj)); diff != "" {
					t.Fatalf("seed %d: defaulted again (-once +twice):\n%s", seed, diff)
				}
			}
		})
	}
}

// TestOtherTypesAreLeftAlone: an object that is none of the kind passes unchanged.
func TestOtherTypesAreLeftAlone(t *testing.T) {
	for _, gvk := range Kinds() {
		For(gvk)(nil)
		obj, _ := defaultstest.Read(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")
		want := obj.DeepCopyObject()
		For(gvk)(obj)
		if diff := cmp.Diff(want, obj); diff != "" {
			t.Errorf("%v changed a config map:\n%s", gvk, diff)
		}
	}
}
