package apply

import (
	"testing"
	"time"
	"os"
	"runtime"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/openapi"
	"github.com/kubecascade/kubecascade/apiserver/openapi/markers"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

func TestScratch(t *testing.T) {
	_ = os.Args
	s := time.Now()
	types := resources.NewTable(resources.Builtin()...)
	t.Log("table", time.Since(s))
	s = time.Now()
	markers.Load()
	t.Log("markers", time.Since(s))
	svc := openapi.New("v1.36.3", func() []openapi.Type { return apiserver.Documented(types) })
	for range 2 {
	s = time.Now()
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	defs, err := svc.Definitions(schema.GroupVersion{Version: "v1"})
	runtime.ReadMemStats(&m1)
	t.Log("definitions v1", time.Since(s), len(defs), (m1.TotalAlloc-m0.TotalAlloc)>>10, err)
	s = time.Now()
	tc, err := managedfields.NewTypeConverter(defs, false)
	t.Log("converter v1", time.Since(s), err)
	s = time.Now()
	_, err = tc.ObjectToTyped(&corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}})
	t.Log("first typed", time.Since(s), err)
	}
	s = time.Now()
	defs, err := svc.Definitions(schema.GroupVersion{Group:"apps", Version: "v1"})
	t.Log("definitions apps/v1", time.Since(s), len(defs), err)
}
