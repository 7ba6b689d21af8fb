package codec

import (
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/weight"
)

// WeightOf returns the weight.Kind of a resource's objects.
func WeightOf(res *resources.Resource) *weight.Kind {
	if res.Custom {
		return TreeKind
	}
	return KindWeight(res.GroupVersionKind())
}

var (
	TreeKind = &weight.Kind{}
	// weightKinds caches the kinds of Go types.
	weightKinds = struct {
		sync.RWMutex // guards by
		by           map[schema.GroupVersionKind]*weight.Kind
	}{by: map[schema.GroupVersionKind]*weight.Kind{}}
	// DeleteKind has no version, as any is accepted (see decodeDeleteOptions).
	DeleteKind = &weight.Kind{Type: reflect.TypeFor[metav1.DeleteOptions](), Name: "DeleteOptions", Worst: WorstValue}
)

// WorstValue is the largest memory of a value in any kind of the scheme, as a body may state any kind. It is a constant
// (that of an item of a list of CronJobs, see TestWorstValue), as to make the shapes of all kinds takes 30 ms and 4
// MiB.
const WorstValue = 1560

// KindWeight returns the weight.Kind of a kind with a Go type. For other kinds everything counts with the largest
// memory.
func KindWeight(gvk schema.GroupVersionKind) *weight.Kind {
	weightKinds.RLock()
	k := weightKinds.by[gvk]
	weightKinds.RUnlock()
	if k != nil {
		return k
	}
	obj, err := resources.Scheme().New(gvk)
	if err != nil {
		return &weight.Kind{Worst: WorstValue}
	}
	apiVersion, name := gvk.ToAPIVersionAndKind()
	k = &weight.Kind{Type: reflect.TypeOf(obj).Elem(), APIVersion: apiVersion, Name: name, Worst: WorstValue}
	weightKinds.Lock()
	defer weightKinds.Unlock()
	weightKinds.by[gvk] = k
	return k
}

// Weigh returns the memory of a body of a kind.
func Weigh(k *weight.Kind, media string, body []byte) (n int64, exact bool) {
	if len(body) == 0 {
		return 0, true
	}
	switch media {
	case MediaYAML:
		size, exact := k.YAML(body)
		return size.Write(), exact && !weight.Aliased(body)
	case MediaProtobuf:
		return k.Protobuf(body).Write(), true
	}
	return k.JSON(body).Write(), true
}

// SmallObject is the size of objects, in bytes, that need not be weighed one by one: they are small whatever they
// contain.
const SmallObject = 4 << 10
