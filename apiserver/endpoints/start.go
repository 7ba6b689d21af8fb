package endpoints

import (
	"cmp"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// start sends the initial events that the client requests, and returns a watcher for the events after them (H-26,
// H-27).
func (w *watch) start() (*cache.Watcher, error) {
	ctx := w.req.r.Context()
	initial := w.wantsInitial()
	collection := w.req.Resource.Collection
	var err error
	switch {
	case w.opts.ResourceVersion == "":
		err = w.api.Registry.Fresh(ctx)
	case initial && w.rev > 0:
		err = w.api.Registry.WaitFor(ctx, w.rev)
	}
	if err != nil {
		return nil, err
	}
	stale := w.req.stale()
	if !initial {
		if w.rev == 0 {
			w.rev = cmp.Or(stale, w.api.Registry.Cache.Revision())
		}
		// A future revision is accepted. The watch sends nothing until there are events after it (H-29).
		return w.api.Registry.Cache.Watch(collection, min(w.rev, w.api.Registry.Cache.Revision()))
	}
	snap, err := w.api.Registry.Cache.Snapshot(collection, stale)
	if err != nil {
		return nil, err
	}
	rev := snap.Revision() // the snapshot may be released while the objects are sent
	if err := w.initial(snap); err != nil {
		return nil, err
	}
	w.rev = rev
	if w.opts.AllowWatchBookmarks {
		w.bookmark(true)
	}
	return w.api.Registry.Cache.Watch(collection, w.rev)
}

// initial sends the selected objects of a snapshot.
func (w *watch) initial(snap *cache.Snapshot) (err error) {
	show := func(obj *storage.Object) bool {
		err = w.emit("ADDED", obj, nil)
		w.rendering.Forget(obj)
		return err == nil
	}
	ctx, all := w.req.r.Context(), scan{state: cached{snap, w.sel.Prefix}}
	var failed error
	if w.sel.Resource.Custom {
		failed = listCustom(ctx, all, &w.sel, w.rendering, show)
	} else {
		var items []*storage.Object
		items, _, failed = w.api.page(ctx, all, &w.sel, w.rendering)
		for i := 0; i < len(items) && show(items[i]); i++ {
		}
	}
	return cmp.Or(failed, err)
}
