package fieldmanager

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/schemaconv"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kubecascade/kubecascade/apiserver/openapi"
)

// kinds has the schemas of built-in kinds. Each is built when it is first needed. Only one is built at a time, so that
// they can share types.
type kinds struct {
	byKind sync.Map // schema.GroupVersionKind to *typed.ParseableType

	// mu is held while a schema is built, and guards atoms.
	mu sync.Mutex
	// atoms are the types of all schemas by name. A name identifies a Go type.
	atoms map[string]smd.Atom
}

// get returns the schema of a kind. sample returns an object of the kind.
func (k *kinds) get(gvk schema.GroupVersionKind, sample func() runtime.Object) (*typed.ParseableType, error) {
	if t, ok := k.byKind.Load(gvk); ok {
		return t.(*typed.ParseableType), nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if t, ok := k.byKind.Load(gvk); ok {
		return t.(*typed.ParseableType), nil
	}
	t, err := k.make(sample())
	if err != nil {
		return nil, fmt.Errorf("creating the schema of %s: %w", gvk, err)
	}
	k.byKind.Store(gvk, t)
	return t, nil
}

// make builds a schema. The caller holds mu.
func (k *kinds) make(sample runtime.Object) (*typed.ParseableType, error) {
	name, schemas := openapi.Schemas(sample)
	s, err := schemaconv.ToSchemaFromOpenAPI(schemas, false)
	if err != nil {
		return nil, err
	}
	if k.atoms == nil {
		k.atoms = map[string]smd.Atom{}
	}
	for i := range s.Types {
		t := &s.Types[i]
		if shared, ok := k.atoms[t.Name]; ok {
			t.Atom = shared
		} else {
			k.atoms[t.Name] = t.Atom
		}
	}
	parser := &typed.Parser{Schema: smd.Schema{Types: s.Types}}
	t := parser.Type(name)
	return &t, nil
}
