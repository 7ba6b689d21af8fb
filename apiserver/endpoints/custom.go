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
func (l lister) listCustom(
	ctx context.Context, st registry.State, from string, limit int64, sel *registry.Selection, x *render.Rendering,
	yield func(*storage.Object) bool,
) (err error) {
	deep, n := sel.Deep(), readAhead
	if limit > 0 {
		n = int(min(limit, readAhead))
	}
	for more := true; more; n = min(2*n, readAhead) { // if few are selected, more have to be read
		var batch []*storage.Object
		if batch, from, more, err = l.nextCustom(ctx, st, from, n, sel, x); err != nil {
			return err
		}
		if deep || !x.MetadataOnly() {
			if err := x.Read(batch); err != nil {
				return err
			}
		}
		for _, o := range batch {
			going, err := l.showCustom(o, deep, sel, x, yield)
			if err != nil || !going {
				return err
			}
		}
	}
	return nil
}

// showCustom calls yield with an object if it can be read and is selected.
func (l lister) showCustom(
	o *storage.Object, deep bool, sel *registry.Selection, x *render.Rendering, yield func(*storage.Object) bool,
) (going bool, err error) {
	if err := x.Unreadable(o); err != nil {
		x.Forget(o)
		return l.omit(x, o.Key, err), nil
	}
	if deep {
		data, err := x.JSON(o)
		if err != nil {
			return false, err
		}
		if !sel.Has(storage.Select(data, sel.Resource.Fields)) {
			x.Forget(o)
			return true, nil
		}
	}
	if err := x.Shrink(o); err != nil {
		return false, err
	}
	return yield(o), nil
}

// nextCustom returns up to n of the next objects whose metadata is selected, and the key to continue from if there are
// more.
func (l lister) nextCustom(
	ctx context.Context, st registry.State, from string, n int, sel *registry.Selection, x *render.Rendering,
) (batch []*storage.Object, next string, more bool, err error) {
	size := 0
	err = st.Ascend(ctx, max(from, sel.Key), n, func(o *storage.Object) bool {
		switch {
		case sel.Key != "" && o.Key != sel.Key:
			return false
		case len(batch) == n || size >= readBytes:
			next, more = o.Key, true
			return false
		case o.Err != nil:
			if !l.omit(x, o.Key, o.Err) {
				return false
			}
		case sel.MatchesMetadata(o):
			batch, size = append(batch, o), size+len(o.JSON)
		}
		return true
	})
	return batch, next, more, err
}
