package endpoints

import (
	"context"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/storage"
)

// readAhead and readBytes limit the number and the bytes of custom resources that are read and converted together,
// because one ConversionReview contains all of them.
const (
	readAhead = 500
	readBytes = 4 << 20
)

// listCustom calls yield with the selected custom resources of a scan, in key order, until yield returns false. Each is
// read once. rendering.Views has the results.
func listCustom(
	ctx context.Context, sc scan, sel *registry.Selection, rendering *render.Rendering,
	yield func(*storage.Object) bool,
) error {
	deep, n := sel.Deep(), readAhead
	if sc.limit > 0 {
		n = int(min(sc.limit, readAhead))
	}
	for from, more := sc.from, true; more; n = min(2*n, readAhead) { // more, because the selector may exclude most
		var batch []*storage.Object
		size := 0
		more = false
		err := ascendMetadata(ctx, sc.state, from, n, sel, rendering, func(obj *storage.Object) bool {
			batch, size = append(batch, obj), size+len(obj.JSON)
			from, more = obj.Key+"\x00", len(batch) == n || size >= readBytes
			return !more
		})
		if err == nil && (deep || !rendering.MetadataOnly()) {
			err = rendering.Read(batch)
		}
		if err != nil {
			return err
		}
		for _, obj := range batch {
			going, err := showCustom(obj, deep, sel, rendering, yield)
			if err != nil || !going {
				return err
			}
		}
	}
	return nil
}

// showCustom calls yield with an object if it can be read and is selected.
func showCustom(
	obj *storage.Object, deep bool, sel *registry.Selection, rendering *render.Rendering, yield func(*storage.Object) bool,
) (going bool, err error) {
	if err := rendering.Unreadable(obj); err != nil {
		rendering.Forget(obj)
		return omit(rendering, obj, err), nil
	}
	if deep {
		data, err := rendering.JSON(obj)
		if err != nil {
			return false, err
		}
		if !sel.Has(storage.Select(data, sel.Resource.Fields)) {
			rendering.Forget(obj)
			return true, nil
		}
	}
	if err := rendering.Shrink(obj); err != nil {
		return false, err
	}
	return yield(obj), nil
}
