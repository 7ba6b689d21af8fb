package codec

import (
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/weight"
)

// WeightOf is the kind of a resource's objects.
func WeightOf(res *resources.Resource) *weight.Kind {
	if res.Custom {
		return TreeKind
	}
	return KindWeight(res.GroupVersionKind())
}

var (
	TreeKind = &weight.Kind{}
	// weightKinds are those of Go types.
	weightKinds = struct {
		sync.RWMutex // guards by
		by           map[schema.GroupVersionKind]*weight.Kind
	}{by: map[schema.GroupVersionKind]*weight.Kind{}}
	// DeleteKind is of any version (see decodeDeleteOptions).
	DeleteKind = &weight.Kind{Type: reflect.TypeFor[metav1.DeleteOptions](), Name: "DeleteOptions", Worst: WorstValue}
)

// WorstValue is the most memory that a value takes in any kind that the scheme has: a body may say that it is any. It
// is known here (an item of a list of CronJobs takes it, see TestWorstValue), as it takes 30 ms and 4 MiB to make the
// shapes of all kinds.
const WorstValue = 1528

// KindWeight is what is known of a kind with a Go type; of others, all is charged as if it were of the worst type.
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

// Weigh is the memory of a body of a kind.
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

// SmallObject is a size of objects that are not weighed among others, as they are small whatever is in them.
const SmallObject = 4 << 10
