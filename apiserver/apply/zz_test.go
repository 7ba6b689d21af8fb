package apply

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kube-openapi/pkg/schemaconv"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kubecascade/kubecascade/apiserver/openapi"
)

func TestZZ(t *testing.T) {
	for range 2 {
		s := time.Now()
		name, schemas := openapi.Schemas(&corev1.Pod{})
		t.Log("schemas", time.Since(s), len(schemas))
		s = time.Now()
		sc, _ := schemaconv.ToSchemaFromOpenAPI(schemas, false)
		t.Log("convert", time.Since(s))
		s = time.Now()
		p := &typed.Parser{Schema: smd.Schema{Types: sc.Types}}
		ty := p.Type(name)
		shapeOf(reflect.TypeFor[corev1.Pod](), &ty, map[shapeKey]*shape{})
		t.Log("shape", time.Since(s))
	}
}
