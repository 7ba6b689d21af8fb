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
func (a *API) weigh(q *request, media string, body []byte) (n int64, exact bool) {
	switch q.verb {
	case "create", "update":
		n, exact = codec.Weigh(kindOf(q), media, body)
	case "patch":
		return a.weighPatch(q, media, body)
	case "delete":
		n, exact = codec.Weigh(codec.DeleteKind, media, body)
	case "deletecollection": // one by one
		n, exact = codec.Weigh(codec.DeleteKind, media, body)
		return n + a.weighLargest(q), exact
	default:
		return 0, true
	}
	return n + a.weighStored(q), exact
}

// kindOf is the kind of a request's body.
func kindOf(q *request) *weight.Kind {
	if q.Subresource != nil && !q.Subresource.Kind.Empty() {
		return codec.KindWeight(q.Subresource.Kind)
	}
	return codec.WeightOf(q.Resource)
}

// body is the request's body.
func (q *request) body() []byte {
	data, _ := exchange.BodyOf(q.r)
	return data
}

// media is the body's media type without its parameters. A body of an invalid type is not decoded.
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
func (a *API) weighStored(q *request) int64 {
	if o := a.present(q); o != nil {
		return codec.WeightOf(q.Resource).Shape().JSON(o.JSON).Write()
	}
	return 0
}

// present is the object that the request names, as it is cached; nil if there is none.
func (a *API) present(q *request) *storage.Object {
	if q.Name == "" || q.Resource.Collection == "" {
		return nil
	}
	o, _ := a.registry.Cache.Get(q.Key(a.registry.Root))
	return o
}

// weighLargest is weighStored for the object of a collection that takes most.
func (a *API) weighLargest(q *request) (most int64) {
	shape := codec.WeightOf(q.Resource).Shape()
	snapshot, err := a.registry.Cache.Snapshot(q.Resource.Collection, 0)
	if err != nil {
		return 0
	}
	prefix := q.Key(a.registry.Root)
	snapshot.Ascend(prefix, prefix, func(o *storage.Object) bool {
		if len(o.JSON) > codec.SmallObject {
			most = max(most, shape.JSON(o.JSON).Write())
		}
		return true
	})
	return most
}

// weighPatch is the memory of a patch and of the object that it is applied to, both of them as trees, too.
func (a *API) weighPatch(q *request, media string, body []byte) (n int64, exact bool) {
	k := codec.WeightOf(q.Resource)
	n = a.weighStored(q) + weight.Tree.JSON(body).Write()
	if o := a.present(q); o != nil && !q.Resource.Custom {
		n += weight.Tree.JSON(o.JSON).Write()
	}
	if types.PatchType(patchMedia(q.r)) == types.JSONPatchType {
		var stored weight.Size
		if o := a.present(q); o != nil {
			stored = weight.Tree.JSON(o.JSON)
		}
		copies := bytes.Count(body, []byte("copy")) + bytes.Count(body, []byte(`\u`))
		return n + k.Patch(body, stored, int64(copies), codec.MaxBody).Write(), true // the limit is that of package jsonpatch
	}
	patch, exact := codec.Weigh(k, media, body)
	return n + patch, exact
}
