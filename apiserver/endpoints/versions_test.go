package endpoints_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// serving parses pairs as --runtime-config does.
func serving(t *testing.T, pairs ...string) *resources.Serving {
	t.Helper()
	s, absent, err := resources.ParseServing(pairs)
	if err != nil {
		t.Fatalf("%v: %v, absent %v", pairs, err, absent)
	}
	return s
}

// TestEveryVersion sends requests with each verb to each version that --runtime-config can enable.
func TestEveryVersion(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Serving: serving(t, "api/all=true")})
	objects := minimal(t)
	for _, r := range resources.Every(nil) {
		if !r.Off {
			continue
		}
		t.Run(r.Plural+"."+r.Group+"/"+r.Version, func(t *testing.T) {
			w := &walk{t: t, s: s, r: r, obj: &unstructured.Unstructured{Object: minimalOf(objects, r)}}
			w.create()
			if r.Deprecated != "" &&
				!slices.Contains(s.Do("GET", w.path, nil).Header.Values("Warning"), `299 - "`+r.Deprecated+`"`) {
				t.Errorf("no warning that the version is deprecated")
			}
			w.read()
			w.change()
			w.subresources()
			w.remove()
		})
	}
}
