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

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/weight"
	"github.com/kubecascade/kubecascade/storage"
)

// weigh estimates the memory that a write takes: what its body becomes, and the stored object that it changes. values are
// those that the aliases of a body in YAML stand for, if that is known.
func (s *Server) weigh(q *request, values int64) int64 {
	body := q.body()
	var total int64
	switch q.verb {
	case "create", "update":
		total = weighBody(kindOf(q), q.media(), body, values)
	case "patch":
		return s.weighPatch(q, body, values)
	case "delete":
		total = weighBody(deleteKind(), q.media(), body, values)
	case "deletecollection": // one by one
		return weighBody(deleteKind(), q.media(), body, values) + s.weighLargest(q)
	default:
		return 0
	}
	return total + s.weighStored(q)
}

// kindOf is the kind of a request's body.
func kindOf(q *request) *weight.Kind {
	if q.sub != nil && !q.sub.Kind.Empty() {
		return weightKind(q.sub.Kind)
	}
	return resourceKind(q.res)
}

// resourceKind is the kind of a resource's objects.
func resourceKind(res *resources.Resource) *weight.Kind {
	if res.Custom {
		return treeKind
	}
	return weightKind(res.GroupVersionKind())
}

var (
	treeKind = &weight.Kind{Shape: weight.Tree}
	// weightKinds are weight.Kinds by their schema.GroupVersionKind.
	weightKinds sync.Map
	// worstKind is the most memory that a value takes in any kind that the scheme has: a body may say that it is any.
	worstKind = sync.OnceValue(func() (worst int64) {
		for _, t := range resources.Scheme().AllKnownTypes() {
			worst = max(worst, weight.Of(t).Worst())
		}
		return worst
	})
	// deleteKind is of any version (see decodeDeleteOptions).
	deleteKind = sync.OnceValue(func() *weight.Kind {
		return &weight.Kind{Shape: weight.Of(reflect.TypeFor[metav1.DeleteOptions]()), Name: "DeleteOptions", Others: worstKind()}
	})
)

// weightKind is what is known of a kind with a Go type; of others, all is charged as if it were of the worst type.
func weightKind(gvk schema.GroupVersionKind) *weight.Kind {
	if k, ok := weightKinds.Load(gvk); ok {
		return k.(*weight.Kind)
	}
	obj, err := resources.Scheme().New(gvk)
	if err != nil {
		return &weight.Kind{Shape: weight.Tree, Others: worstKind()}
	}
	apiVersion, name := gvk.ToAPIVersionAndKind()
	k := &weight.Kind{Shape: weight.Of(reflect.TypeOf(obj).Elem()), APIVersion: apiVersion, Name: name, Others: worstKind()}
	got, _ := weightKinds.LoadOrStore(gvk, k)
	return got.(*weight.Kind)
}

// weighBody is the memory of a body of a kind.
func weighBody(k *weight.Kind, media string, body []byte, values int64) int64 {
	if len(body) == 0 {
		return 0
	}
	switch media {
	case mediaYAML:
		return k.YAML(body, values).Write()
	case mediaProtobuf:
		return k.Protobuf(body).Write()
	}
	return k.JSON(body).Write()
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
		return mediaYAML
	case !strings.Contains(header, ";"):
		return header
	}
	media, _, _ := mime.ParseMediaType(header)
	return media
}

// weighStored is the memory of working on the object that the request names, as it is now.
func (s *Server) weighStored(q *request) int64 {
	if o := s.present(q); o != nil {
		return resourceKind(q.res).Shape.JSON(o.JSON).Write()
	}
	return 0
}

// present is the object that the request names, as it is cached; nil if there is none.
func (s *Server) present(q *request) *storage.Object {
	if q.name == "" || q.res.Collection == "" {
		return nil
	}
	o, _ := s.cache.Get(q.key(s.root))
	return o
}

// weighLargest is weighStored for the object of a collection that takes most.
func (s *Server) weighLargest(q *request) (most int64) {
	shape := resourceKind(q.res).Shape
	snapshot, err := s.cache.Snapshot(q.res.Collection, 0)
	if err != nil {
		return 0
	}
	prefix := q.key(s.root)
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
func (s *Server) weighPatch(q *request, body []byte, values int64) int64 {
	k := resourceKind(q.res)
	kind := types.PatchType(patchMedia(q.r))
	stored := s.weighStored(q)
	if o := s.present(q); o != nil && !q.res.Custom {
		stored += weight.Tree.JSON(o.JSON).Write()
	}
	switch kind {
	case types.ApplyYAMLPatchType:
		return stored + k.YAML(body, values).Write() + weight.Tree.JSON(body).Write()
	case types.JSONPatchType:
		patch := k.Anywhere(body).Write() + weight.Tree.JSON(body).Write()
		return stored + patch + copied(body, stored+patch, k)
	}
	return stored + k.JSON(body).Write() + weight.Tree.JSON(body).Write()
}

// copied is the memory of what a JSON patch copies: each operation as much as there is, and no more bytes than
// jsonpatch.AccumulatedCopySizeLimit.
func copied(patch []byte, all int64, k *weight.Kind) int64 {
	n := int64(bytes.Count(patch, []byte("copy")) + bytes.Count(patch, []byte(`\u`)))
	if n == 0 {
		return 0
	}
	return min(n*all, k.Densest(maxBody).Write())
}
