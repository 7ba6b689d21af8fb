package dynamic

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// TestMemoryKeepsOneEntry: each new entry of a CustomResourceDefinition decodes a param again. The cache keeps no
// previous entry.
func TestMemoryKeepsOneEntry(t *testing.T) {
	m, decoded := &memory{}, 0
	decode := func() (runtime.Object, error) {
		decoded++
		return &unstructured.Unstructured{}, nil
	}
	o := &storage.Object{Key: "/registry/x.io/things/a", Revision: 1, JSON: []byte("{}")}
	for range 10 {
		res := &resources.Resource{
			Served:         resources.Served{Group: "x.io", Version: "v1", Kind: "Thing"},
			CustomResource: resources.CustomResource{Custom: true}}
		for range 2 {
			if _, err := m.get(res, o, decode); err != nil {
				t.Fatal(err)
			}
		}
	}
	if decoded != 10 || len(m.held) != 1 || m.size != len(o.JSON) {
		t.Errorf("decoded %d times, %d kept, %d bytes", decoded, len(m.held), m.size)
	}
}
