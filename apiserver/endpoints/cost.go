package endpoints

import (
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/weight"
	"github.com/kubecascade/kubecascade/storage"
)

// sending is the memory that an answer of so many bytes takes while it is sent.
func (req *request) sending(size int64) int64 {
	encoded := size
	if size >= render.GzipFrom && render.Compresses(req.r) {
		size += render.GzipMemory
	}
	return size + req.recordedAnswer(encoded)
}

// scanCost is the memory of custom resources that are converted together while a list is read (see listCustom). Those
// that are selected count with the answer.
func (a *API) scanCost(req *request, rendering *render.Rendering, limit int64) (n int64) {
	if !rendering.Resource.Custom || rendering.Resource.FromStored == nil || rendering.MetadataOnly() {
		return 0
	}
	snapshot, err := a.registry.Cache.Snapshot(rendering.Resource.Collection, 0)
	if err != nil {
		return 0
	}
	size, count, most := 0, 0, readAhead
	if limit > 0 {
		most = int(min(limit, readAhead))
	}
	prefix := req.Key(a.registry.Root)
	snapshot.Ascend(prefix, prefix, func(obj *storage.Object) bool {
		size, count = size+len(obj.JSON), count+1
		n += render.Copies*int64(len(obj.JSON)) + 2*weight.Tree.JSON(obj.JSON).Decoded()
		return size < readBytes && count < most
	})
	return n
}
