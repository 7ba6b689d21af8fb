package apiserver

import (
	"bytes"
	"mime"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/weight"
	"github.com/kubecascade/kubecascade/storage"
)

// weigh estimates the memory that a write with such a body takes: what the body becomes, and the stored object that is
// changed. exact is false where a closer look may find that it is much less.
func (s *Server) weigh(q *request, media string, body []byte) (n int64, exact bool) {
	switch q.verb {
	case "create", "update":
		n, exact = weighBody(kindOf(q), media, body)
	case "patch":
		return s.weighPatch(q, media, body)
	case "delete":
		n, exact = weighBody(deleteKind, media, body)
	case "deletecollection": // one by one
		n, exact = weighBody(deleteKind, media, body)
		return n + s.weighLargest(q), exact
	default:
		return 0, true
	}
	return n + s.weighStored(q), exact
}

// kindOf is the kind of a request's body.
func kindOf(q *request) *weight.Kind {
	if q.Subresource != nil && !q.Subresource.Kind.Empty() {
		return weightKind(q.Subresource.Kind)
	}
	return resourceKind(q.Resource)
}

// resourceKind is the kind of a resource's objects.
func resourceKind(res *resources.Resource) *weight.Kind {
	if res.Custom {
		return treeKind
	}
	return weightKind(res.GroupVersionKind())
}

var (
	treeKind = &weight.Kind{}
	// weightKinds are those of Go types.
	weightKinds = struct {
		sync.RWMutex // guards by
		by           map[schema.GroupVersionKind]*weight.Kind
	}{by: map[schema.GroupVersionKind]*weight.Kind{}}
	// deleteKind is of any version (see decodeDeleteOptions).
	deleteKind = &weight.Kind{Type: reflect.TypeFor[metav1.DeleteOptions](), Name: "DeleteOptions", Worst: worstValue}
)

// worstValue is the most memory that a value takes in any kind that the scheme has: a body may say that it is any. It
// is known here (an item of a list of CronJobs takes it, see TestWorstValue), as it takes 30 ms and 4 MiB to make the
// shapes of all kinds.
const worstValue = 1528

// weightKind is what is known of a kind with a Go type; of others, all is charged as if it were of the worst type.
func weightKind(gvk schema.GroupVersionKind) *weight.Kind {
	weightKinds.RLock()
	k := weightKinds.by[gvk]
	weightKinds.RUnlock()
	if k != nil {
		return k
	}
	obj, err := resources.Scheme().New(gvk)
	if err != nil {
		return &weight.Kind{Worst: worstValue}
	}
	apiVersion, name := gvk.ToAPIVersionAndKind()
	k = &weight.Kind{Type: reflect.TypeOf(obj).Elem(), APIVersion: apiVersion, Name: name, Worst: worstValue}
	weightKinds.Lock()
	defer weightKinds.Unlock()
	weightKinds.by[gvk] = k
	return k
}

// weighBody is the memory of a body of a kind.
func weighBody(k *weight.Kind, media string, body []byte) (n int64, exact bool) {
	if len(body) == 0 {
		return 0, true
	}
	switch media {
	case codec.MediaYAML:
		size, exact := k.YAML(body)
		return size.Write(), exact && !weight.Aliased(body)
	case codec.MediaProtobuf:
		return k.Protobuf(body).Write(), true
	}
	return k.JSON(body).Write(), true
}

// body is what intake has read.
func (q *request) body() []byte {
	if b, ok := q.r.Body.(*readAlready); ok {
		return b.data
	}
	return nil
}

// media is the body's media type without its parameters. What isn't one isn't decoded.
func (q *request) media() string {
	header := q.r.Header.Get("Content-Type")
	switch {
	case q.verb == "patch" && patchMedia(q.r) == string(types.ApplyYAMLPatchType):
		return codec.MediaYAML
	case !strings.Contains(header, ";"):
		return header
	}
	media, _, _ := mime.ParseMediaType(header)
	return media
}

// weighStored is the memory of working on the object that the request names, as it is now.
func (s *Server) weighStored(q *request) int64 {
	if o := s.present(q); o != nil {
		return resourceKind(q.Resource).Shape().JSON(o.JSON).Write()
	}
	return 0
}

// present is the object that the request names, as it is cached; nil if there is none.
func (s *Server) present(q *request) *storage.Object {
	if q.Name == "" || q.Resource.Collection == "" {
		return nil
	}
	o, _ := s.registry.Cache.Get(q.Key(s.registry.Root))
	return o
}

// weighLargest is weighStored for the object of a collection that takes most.
func (s *Server) weighLargest(q *request) (most int64) {
	shape := resourceKind(q.Resource).Shape()
	snapshot, err := s.registry.Cache.Snapshot(q.Resource.Collection, 0)
	if err != nil {
		return 0
	}
	prefix := q.Key(s.registry.Root)
	snapshot.Ascend(prefix, prefix, func(o *storage.Object) bool {
		if len(o.JSON) > smallObject {
			most = max(most, shape.JSON(o.JSON).Write())
		}
		return true
	})
	return most
}

// smallObject is a size of objects that are not weighed among others, as they are small whatever is in them.
const smallObject = 4 << 10

// weighPatch is the memory of a patch and the object that it is applied to, both of which are trees as well.
func (s *Server) weighPatch(q *request, media string, body []byte) (n int64, exact bool) {
	k := resourceKind(q.Resource)
	n = s.weighStored(q) + weight.Tree.JSON(body).Write()
	if o := s.present(q); o != nil && !q.Resource.Custom {
		n += weight.Tree.JSON(o.JSON).Write()
	}
	if types.PatchType(patchMedia(q.r)) == types.JSONPatchType {
		var stored weight.Size
		if o := s.present(q); o != nil {
			stored = weight.Tree.JSON(o.JSON)
		}
		copies := bytes.Count(body, []byte("copy")) + bytes.Count(body, []byte(`\u`))
		return n + k.Patch(body, stored, int64(copies), codec.MaxBody).Write(), true // the limit is that of package jsonpatch
	}
	patch, exact := weighBody(k, media, body)
	return n + patch, exact
}
