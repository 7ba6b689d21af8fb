package crds

import (
	"fmt"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestManyInstances: 10,000 objects are listed in pages, selected by a field, served by a schema that changes, and
// deleted with their definition and their dependents.
func TestManyInstances(t *testing.T) {
	const n, path = 10000, "/apis/example.com/v1/namespaces/default/things"
	s := start(t)
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.com"}}
	d.Spec.Group, d.Spec.Scope = "example.com", apiextensionsv1.NamespaceScoped
	d.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: "Thing"}
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
		SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".spec.n"}},
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object",
				Properties:   map[string]apiextensionsv1.JSONSchemaProps{"n": {Type: "integer"}},
				XValidations: apiextensionsv1.ValidationRules{{Rule: "self.n >= 0"}}}}}}}}
	s.do("POST", definitions, d, plain)
	s.await(definitions, d.Name, established)

	const clients = 16
	var wg sync.WaitGroup
	for k := range clients {
		wg.Go(func() {
			for i := k; i < n; i += clients {
				thing := map[string]any{
					"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": fmt.Sprint("t", i)},
					"spec": map[string]any{"n": i % 100},
				}
				if code, data := s.try("POST", path, thing, plain); code != 201 {
					t.Errorf("%d %s", code, data)
					return
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	seen, next := 0, ""
	for more := true; more; more = next != "" {
		page := s.do("GET", path+"?limit=500&continue="+next, nil, plain)
		items, _, _ := unstructured.NestedSlice(page.Object, "items")
		seen += len(items)
		next, _, _ = unstructured.NestedString(page.Object, "metadata", "continue")
	}
	selected := s.do("GET", path+"?fieldSelector=spec.n%3D7", nil, plain)
	items, _, _ := unstructured.NestedSlice(selected.Object, "items")
	if seen != n || len(items) != n/100 {
		t.Errorf("%d objects in pages, %d selected", seen, len(items))
	}
	owner := s.do("GET", path+"/t7", nil, plain)
	s.do("POST", configMaps,
		map[string]any{"metadata": map[string]any{"name": "leaf", "ownerReferences": []any{reference(owner)}}}, plain)
	s.do("DELETE", definitions+"/"+d.Name, nil, plain)
	s.await(definitions, d.Name, gone)
	s.await(configMaps, "leaf", gone)
	if code, _ := s.try("GET", path, nil, plain); code != 404 {
		t.Errorf("GET %s: %d", path, code)
	}
}
