package endpoints

import (
	"context"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/storage"
)

// readAhead and readBytes bound how many custom resources are read, and converted, together: a ConversionReview has all
// of them in it.
const (
	readAhead = 500
	readBytes = 4 << 20
)

// listCustom calls yield with the selected custom resources of a state, in key order from a key on, until it returns
// false. Each is read once for the answer: x.Views has what is shown of it. yield takes at most limit; 0 is no bound.
func (a *API) listCustom(
	ctx context.Context, st state, from string, limit int64, sel *registry.Selection, rendering *render.Rendering,
	yield func(*storage.Object) bool,
) (err error) {
	deep, n := sel.Deep(), readAhead
	if limit > 0 {
		n = int(min(limit, readAhead))
	}
	for more := true; more; n = min(2*n, readAhead) { // if few are selected, more have to be read
		var batch []*storage.Object
		if batch, from, more, err = a.nextCustom(ctx, st, from, n, sel, rendering); err != nil {
			return err
		}
		if deep || !rendering.MetadataOnly() {
			if err := rendering.Read(batch); err != nil {
				return err
			}
		}
		for _, obj := range batch {
			going, err := a.showCustom(obj, deep, sel, rendering, yield)
			if err != nil || !going {
				return err
			}
		}
	}
	return nil
}

// showCustom calls yield with an object if it can be read and is selected.
func (a *API) showCustom(
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

// nextCustom returns up to n of the next objects whose metadata is selected, and the key to continue from if there are
// more.
func (a *API) nextCustom(
	ctx context.Context, st state, from string, n int, sel *registry.Selection, rendering *render.Rendering,
) (batch []*storage.Object, next string, more bool, err error) {
	size := 0
	err = ascendMetadata(ctx, st, from, n, sel, rendering, func(obj *storage.Object) bool {
		batch, size = append(batch, obj), size+len(obj.JSON)
		next, more = obj.Key+"\x00", len(batch) == n || size >= readBytes
		return !more
	})
	return batch, next, more, err
}
