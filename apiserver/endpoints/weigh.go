package endpoints

import (
	"bytes"
	"mime"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/weight"
	"github.com/kubecascade/kubecascade/storage"
)

// weigh estimates the memory that a write with such a body takes: for the decoded body, and for the stored object that
// it changes. exact is false where parsing may show that it is much less.
func (a *API) weigh(req *request, media string, body []byte) (n int64, exact bool) {
	switch req.verb {
	case "create", "update":
		n, exact = codec.Weigh(kindOf(req), media, body)
	case "patch":
		return a.weighPatch(req, media, body)
	case "delete":
		n, exact = codec.Weigh(codec.DeleteKind, media, body)
	case "deletecollection": // one by one
		n, exact = codec.Weigh(codec.DeleteKind, media, body)
		return n + a.weighLargest(req), exact
	default:
		return 0, true
	}
	return n + a.weighStored(req), exact
}

// kindOf is the kind of a request's body.
func kindOf(req *request) *weight.Kind {
	if req.Subresource != nil && !req.Subresource.Kind.Empty() {
		return codec.KindWeight(req.Subresource.Kind)
	}
	return codec.WeightOf(req.Resource)
}

// body is the request's body.
func (req *request) body() []byte {
	data, _ := exchange.BodyOf(req.r)
	return data
}

// media is the body's media type without its parameters. A body of an invalid type is not decoded.
func (req *request) media() string {
	header := req.r.Header.Get("Content-Type")
	switch {
	case req.verb == "patch" && patchMedia(req.r) == string(types.ApplyYAMLPatchType):
		return codec.MediaYAML
	case !strings.Contains(header, ";"):
		return header
	}
	media, _, _ := mime.ParseMediaType(header)
	return media
}

// weighStored is the memory of working on the object that the request names, as it is now.
func (a *API) weighStored(req *request) int64 {
	if obj := a.present(req); obj != nil {
		return codec.WeightOf(req.Resource).Shape().JSON(obj.JSON).Write()
	}
	return 0
}

// present is the object that the request names, as it is cached; nil if there is none.
func (a *API) present(req *request) *storage.Object {
	if req.Name == "" || req.Resource.Collection == "" {
		return nil
	}
	obj, _ := a.registry.Cache.Get(req.Key(a.registry.Root))
	return obj
}

// weighLargest is weighStored for the object of a collection that takes most.
func (a *API) weighLargest(req *request) (most int64) {
	shape := codec.WeightOf(req.Resource).Shape()
	snapshot, err := a.registry.Cache.Snapshot(req.Resource.Collection, 0)
	if err != nil {
		return 0
	}
	prefix := req.Key(a.registry.Root)
	snapshot.Ascend(prefix, prefix, func(obj *storage.Object) bool {
		if len(obj.JSON) > codec.SmallObject {
			most = max(most, shape.JSON(obj.JSON).Write())
		}
		return true
	})
	return most
}

// weighPatch is the memory of a patch and of the object that it is applied to, both of them as trees, too.
func (a *API) weighPatch(req *request, media string, body []byte) (n int64, exact bool) {
	k := codec.WeightOf(req.Resource)
	n = a.weighStored(req) + weight.Tree.JSON(body).Write()
	if obj := a.present(req); obj != nil && !req.Resource.Custom {
		n += weight.Tree.JSON(obj.JSON).Write()
	}
	if types.PatchType(patchMedia(req.r)) == types.JSONPatchType {
		var stored weight.Size
		if obj := a.present(req); obj != nil {
			stored = weight.Tree.JSON(obj.JSON)
		}
		copies := bytes.Count(body, []byte("copy")) + bytes.Count(body, []byte(`\u`))
		return n + k.Patch(body, stored, int64(copies), codec.MaxBody).Write(), true // the limit is that of package jsonpatch
	}
	patch, exact := codec.Weigh(k, media, body)
	return n + patch, exact
}
