package objecttest

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"
)

// Scheme returns a scheme with all built-in types.
var Scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientscheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
})

// New returns an empty object of a kind.
func New(t testing.TB, gvk schema.GroupVersionKind) runtime.Object {
	t.Helper()
	obj, err := Scheme().New(gvk)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

// Read decodes one object from YAML or JSON and sets its kind.
func Read(t testing.TB, text string) (runtime.Object, schema.GroupVersionKind) {
	t.Helper()
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal([]byte(text), &meta); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	gvk := schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind)
	obj := New(t, gvk)
	if err := yaml.UnmarshalStrict([]byte(text), obj); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return obj, gvk
}

// Write encodes an object as YAML.
func Write(t testing.TB, obj any) string {
	t.Helper()
	out, err := yaml.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// JSON encodes an object for comparison.
func JSON(t testing.TB, obj any) string {
	t.Helper()
	out, err := json.MarshalIndent(obj, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// Fill sets random values. About half of the optional fields stay empty.
func Fill(seed int64, obj runtime.Object) {
	filler().RandSource(rand.NewSource(seed)).Fill(obj)
}

func filler() *randfill.Filler {
	return randfill.New().NilChance(.5).NumElements(1, 3).MaxDepth(20).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			amounts := []string{"0", "1", "100m", "1Gi", "1500u", "0.5", "3n", "1e30", "-2"}
			*q = resource.MustParse(amounts[c.Intn(len(amounts))])
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			texts := []string{"", "http", "25%"}
			if *v = intstr.FromInt32(int32(c.Intn(3))); c.Bool() {
				*v = intstr.FromString(texts[c.Intn(len(texts))])
			}
		},
		func(v *metav1.Time, c randfill.Continue) { *v = metav1.Unix(int64(c.Intn(1<<31)), 0) },
		func(v *metav1.MicroTime, c randfill.Continue) {
			*v = metav1.NewMicroTime(time.Unix(int64(c.Intn(1<<31)), 0))
		},
		func(v *runtime.RawExtension, c randfill.Continue) { v.Raw = []byte(`{}`) },
		func(v *metav1.FieldsV1, c randfill.Continue) { v.Raw = []byte(`{}`) },
		func(v *apiextensionsv1.JSON, c randfill.Continue) { v.Raw = []byte(`1`) },
		func(v *apiextensionsv1.JSONSchemaProps, c randfill.Continue) {
			v.Type, v.Format = "string", fmt.Sprint("f", c.Intn(9))
			if c.Intn(3) == 0 {
				v.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Format: "int32"}}
			}
		},
		func(v *string, c randfill.Continue) {
			words := []string{
				"", "a", "b", "nginx:latest", "None", "10.0.0.1", "Always", "User", "Container", "ClientIP", "$(a)", "a/b",
				"LoadBalancer",
			}
			*v = words[c.Intn(len(words))]
		},
	)
}
