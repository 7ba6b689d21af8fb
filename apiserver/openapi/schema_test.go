package openapi

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// TestSchemasEqualGeneratedOnes: reflection and markers result in the same schemas, with descriptions, as the
// definitions that Kubernetes' generator wrote for 90 types (V-101).
func TestSchemasEqualGeneratedOnes(t *testing.T) {
	for name, d := range map[string]dialect{"v2": v2, "v3": v3} {
		t.Run(name, func(t *testing.T) {
			own := newDefinitions(d)
			for _, object := range []any{
				apiextensionsv1.CustomResourceDefinitionList{}, autoscalingv1.HorizontalPodAutoscalerList{}, autoscalingv1.Scale{},
				version.Info{},
				metav1.APIGroupList{}, metav1.APIResourceList{}, metav1.APIVersions{}, metav1.Status{}, metav1.DeleteOptions{},
				metav1.CreateOptions{},
				metav1.UpdateOptions{}, metav1.PatchOptions{}, metav1.ListOptions{}, metav1.WatchEvent{}, metav1.Patch{},
				metav1.LabelSelector{},
				metav1.PartialObjectMetadataList{}, metav1.Table{}, metav1.Duration{}, metav1.MicroTime{}, metav1.Condition{},
			} {
				own.add(reflect.TypeOf(object))
			}
			want := generated.GetOpenAPIDefinitions(func(name string) spec.Ref { return d.reference(name).Ref })
			compared := 0
			for _, name := range slices.Sorted(maps.Keys(own.schemas)) {
				if strings.HasSuffix(name, "IntOrString") {
					continue
				}
				compared++
				if diff := cmp.Diff(dialectOf(t, d, want[name]), plain(t, own.schemas[name].Schema)); diff != "" {
					t.Errorf("%s (-generated +own):\n%s", name, diff)
				}
			}
			if compared < 70 {
				t.Errorf("compared only %d schemas", compared)
			}
		})
	}
}

// dialectOf returns the schema that upstream serves in a version: v2 has different ones for some types, and no
// defaults.
func dialectOf(t *testing.T, d dialect, definition common.OpenAPIDefinition) any {
	t.Helper()
	s := definition.Schema
	inner, ok := s.Extensions[common.ExtensionV2Schema].(spec.Schema)
	s.Extensions = maps.Clone(s.Extensions)
	delete(s.Extensions, common.ExtensionV2Schema)
	if !d.v2 {
		return plain(t, s)
	}
	if ok {
		s = inner
	}
	v := plain(t, s)
	dropDefaults(v, false)
	return v
}

// dropDefaults keeps properties with the name "default".
func dropDefaults(v any, properties bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			dropDefaults(item, false)
		}
	case map[string]any:
		if !properties {
			delete(v, "default")
		}
		for name, item := range v {
			dropDefaults(item, name == "properties" && !properties)
		}
	}
}

// plain converts a value to its JSON form.
func plain(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
