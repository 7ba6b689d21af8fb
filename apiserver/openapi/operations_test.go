package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/openapi/openapitest"
)

// addedParameters are query parameters that Kubernetes added after the version of the documents in client-go.
var addedParameters = []string{
	"sendInitialEvents", "shardSelector", "ignoreStoreReadErrorWithClusterBreakingPotential", "stream",
}

// client-go contains documents of a kube-apiserver for its own tests. They are of v1.26, but the operations of a path
// have not changed since then.
func TestOperationsEqualServedOnes(t *testing.T) {
	upstream, err := openapitest.NewEmbeddedFileClient().Paths()
	if err != nil {
		t.Fatal(err)
	}
	s := New("v1.37.2", served)
	compared := 0
	for _, path := range []string{"api/v1", "apis/apps/v1", "apis/batch/v1", "apis/discovery.k8s.io/v1"} {
		data, err := upstream[path].Schema("application/json")
		if err != nil {
			t.Fatal(err)
		}
		want, own := operationsIn(t, data), operationsIn(t, get(t, s, "/openapi/v3/"+path).body)
		for _, key := range slices.Sorted(maps.Keys(own)) {
			compared++
			if diff := cmp.Diff(want[key], own[key]); diff != "" {
				t.Errorf("%s (-served +own):\n%s", key, diff)
			}
		}
	}
	if compared < 250 {
		t.Errorf("compared only %d operations", compared)
	}
}

type fields = map[string]any

// operationsIn returns the operation of each "method path", with the parameters of the path but without their
// descriptions, which have changed.
func operationsIn(t *testing.T, document []byte) map[string]fields {
	t.Helper()
	var d struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	all := map[string]fields{}
	for path, item := range d.Paths {
		shared := parameterTypes(item["parameters"])
		delete(item, "parameters")
		for method, operation := range item {
			o := operation.(fields)
			parameters := maps.Clone(shared)
			maps.Copy(parameters, parameterTypes(o["parameters"]))
			o["parameters"] = parameters
			if body, ok := o["requestBody"].(fields); ok {
				// Documents of v1.26 do not mark bodies as required.
				delete(body, "required")
			}
			all[method+" "+path] = o
		}
	}
	return all
}

func parameterTypes(list any) fields {
	types := fields{}
	parameters, _ := list.([]any)
	for _, p := range parameters {
		p := p.(fields)
		if name := p["name"].(string); !slices.Contains(addedParameters, name) {
			types[name] = []any{p["in"], p["required"], p["schema"]}
		}
	}
	return types
}
